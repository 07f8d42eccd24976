package courier

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver"
)

// Mail is what an account has, read from its files. A message without a number of Courier has number zero.
func (s *Server) Mail(account string) ([]realserver.MailFolder, error) {
	top := filepath.Join(s.dir, account, "Maildir")
	entries, err := os.ReadDir(top)
	if err != nil {
		return nil, err
	}
	all := []realserver.MailFolder{{Name: "INBOX"}}
	for _, e := range entries {
		if name := e.Name(); e.IsDir() && strings.HasPrefix(name, ".") {
			all = append(all, realserver.MailFolder{Name: "INBOX" + name})
		}
	}
	for i, f := range all {
		if all[i].Messages, err = readMessages(filepath.Join(top, strings.TrimPrefix(f.Name, "INBOX"))); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return all, nil
}

var flagLetters = map[rune]string{'S': `\Seen`, 'R': `\Answered`, 'F': `\Flagged`, 'T': `\Deleted`, 'D': `\Draft`}

func readMessages(dir string) ([]realserver.MailMessage, error) {
	validity, numbers, err := readUIDs(dir)
	if err != nil {
		return nil, err
	}
	var out []realserver.MailMessage
	for _, sub := range []string{"cur", "new"} {
		files, err := os.ReadDir(filepath.Join(dir, sub))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			info, err := f.Info()
			if err != nil {
				return nil, err
			}
			base, flags, _ := strings.Cut(f.Name(), ":2,")
			m := realserver.MailMessage{Validity: validity, UID: numbers[base], Received: info.ModTime()}
			if m.Content, err = os.ReadFile(filepath.Join(dir, sub, f.Name())); err != nil {
				return nil, err
			}
			m.Content = bytes.ReplaceAll(m.Content, []byte("\n"), []byte("\r\n"))
			if m.Flags, err = readKeywords(dir, base); err != nil {
				return nil, err
			}
			for _, letter := range flags {
				m.Flags = append(m.Flags, flagLetters[letter])
			}
			out = append(out, m)
		}
	}
	return out, nil
}

// readUIDs reads the numbers that Courier has written down: "1 validity next", then a line for each message.
func readUIDs(dir string) (uint32, map[string]uint32, error) {
	text, err := os.ReadFile(filepath.Join(dir, "courierimapuiddb"))
	if os.IsNotExist(err) {
		return 0, nil, nil
	}
	if err != nil {
		return 0, nil, err
	}
	numbers, validity := map[string]uint32{}, uint64(0)
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		first, rest, _ := strings.Cut(line, " ")
		if i == 0 {
			first, _, _ = strings.Cut(rest, " ")
		}
		n, err := strconv.ParseUint(first, 10, 32)
		if err != nil {
			return 0, nil, fmt.Errorf("numbers: %q", line)
		}
		if i == 0 {
			validity = n
			continue
		}
		numbers[rest] = uint32(n)
	}
	return uint32(validity), numbers, nil
}

// readKeywords reads a message's own flags: from a file of its name, else from a list of all, which has the names of
// the flags and, after an empty line, their places in it by message.
func readKeywords(dir, base string) ([]string, error) {
	dir = filepath.Join(dir, "courierimapkeywords")
	text, err := os.ReadFile(filepath.Join(dir, base))
	if err == nil {
		return strings.Fields(string(text)), nil
	}
	list, err := os.ReadFile(filepath.Join(dir, ":list"))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	head, lines, _ := strings.Cut(string(list), "\n\n")
	names := strings.Split(head, "\n")
	var out []string
	for line := range strings.Lines(lines) {
		places, ours := strings.CutPrefix(line, base+":")
		if !ours {
			continue
		}
		for _, place := range strings.Fields(places) {
			i, err := strconv.Atoi(place)
			if err != nil || i >= len(names) {
				return nil, fmt.Errorf("keywords: %q", line)
			}
			out = append(out, names[i])
		}
	}
	return out, nil
}
