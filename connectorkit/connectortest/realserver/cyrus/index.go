package cyrus

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver"
)

// Mail is what an account has, and the folders of others that it names: folders, numbers, times and
// flags from mbexamine, which reads the files of the server, and contents from the files.
func (s *Server) Mail(account string, others ...string) ([]realserver.MailFolder, error) {
	out, err := s.runTool("mbexamine", append([]string{"user." + account, "user." + account + ".*"}, others...)...)
	if err != nil {
		return nil, err
	}
	var all []realserver.MailFolder
	sections := strings.Split(string(out), "Examining ")
	for _, section := range sections[1:] {
		name, text, ok := strings.Cut(section, "...")
		if !ok {
			return nil, fmt.Errorf("mbexamine: %.80q", section)
		}
		if own, ok := strings.CutPrefix(name, "user."+account); ok {
			name = "INBOX" + own
		}
		f, err := parseFolder(name, text)
		if err != nil {
			return nil, fmt.Errorf("mbexamine: %s: %w", name, err)
		}
		all = append(all, f)
	}
	return all, nil
}

var (
	pathLine     = regexp.MustCompile(`(?m)^  Path to mailbox: (.*)$`)
	keywordLine  = regexp.MustCompile(`(?m)^  User Flags: (.*)$`)
	validityLine = regexp.MustCompile(`(?m)^  UIDValidity: (\d+) `)
	messageLine  = regexp.MustCompile(`(?m)^\d+> UID:(\d+) +INT_DATE:(\d+) .*\n.*\n.*INTERNALFLAGS:(.*)> ` +
		`SYSTEMFLAGS:(.*)\n +> USERFLAGS: \w+ \w+ \w+ (\w+)$`)
)

var systemFlags = map[string]string{
	"FLAG_ANSWERED": `\Answered`, "FLAG_FLAGGED": `\Flagged`, "FLAG_DELETED": `\Deleted`, "FLAG_DRAFT": `\Draft`,
	"FLAG_SEEN": `\Seen`,
}

func parseFolder(name, text string) (realserver.MailFolder, error) {
	f := realserver.MailFolder{Name: name}
	path, validity := pathLine.FindStringSubmatch(text), validityLine.FindStringSubmatch(text)
	if path == nil || validity == nil {
		return f, fmt.Errorf("no head in %.200q", text)
	}
	v, err := strconv.ParseUint(validity[1], 10, 32)
	if err != nil {
		return f, err
	}
	var keywords []string
	if m := keywordLine.FindStringSubmatch(text); m != nil {
		keywords = strings.Fields(m[1])
	}
	found := messageLine.FindAllStringSubmatch(text, -1)
	if n := strings.Count(text, "> UID:"); n != len(found) {
		return f, fmt.Errorf("%d messages, of which %d are understood", n, len(found))
	}
	for _, m := range found {
		if strings.Contains(m[3], "EXPUNGED") {
			continue
		}
		uid, err := strconv.ParseUint(m[1], 10, 32)
		if err != nil {
			return f, err
		}
		at, err := strconv.ParseInt(m[2], 10, 64)
		if err != nil {
			return f, err
		}
		own, err := strconv.ParseUint(m[5], 16, 32)
		if err != nil {
			return f, err
		}
		message := realserver.MailMessage{Validity: uint32(v), UID: uint32(uid), Received: time.Unix(at, 0)}
		for _, flag := range strings.Fields(m[4]) {
			message.Flags = append(message.Flags, systemFlags[flag])
		}
		for i, keyword := range keywords {
			if own&(1<<i) != 0 {
				message.Flags = append(message.Flags, keyword)
			}
		}
		if message.Content, err = os.ReadFile(filepath.Join(path[1], strconv.FormatUint(uid, 10)+".")); err != nil {
			return f, err
		}
		if bytes.Contains(message.Content, []byte("\n\n")) {
			return f, fmt.Errorf("message %d has other ends of lines than IMAP", uid)
		}
		f.Messages = append(f.Messages, message)
	}
	return f, nil
}
