package dovecot

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver"
)

// Folders returns the folders of an account by its directories.
func (s *Server) Folders(account string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, "mail", account))
	if os.IsNotExist(err) {
		return nil, nil
	}
	out := []string{"INBOX"}
	for _, e := range entries {
		if name := e.Name(); e.IsDir() && strings.HasPrefix(name, ".") {
			out = append(out, strings.ReplaceAll(name[1:], ".", "/"))
		}
	}
	return out, err
}

// Mail is what an account has.
func (s *Server) Mail(account string) ([]realserver.MailFolder, error) {
	names, err := s.Folders(account)
	if err != nil {
		return nil, err
	}
	var out []realserver.MailFolder
	for _, name := range names {
		messages, err := s.Messages(account, name)
		if err != nil {
			return nil, err
		}
		out = append(out, realserver.MailFolder{Name: name, Messages: messages})
	}
	return out, nil
}

var flagLetters = map[byte]string{'S': `\Seen`, 'R': `\Answered`, 'F': `\Flagged`, 'T': `\Deleted`, 'D': `\Draft`}

// Messages reads the messages of a folder from its files: the list of UIDs, the names that carry the
// flags, and the contents.
func (s *Server) Messages(account, folder string) ([]realserver.MailMessage, error) {
	dir := filepath.Join(s.dir, "mail", account)
	if folder != "INBOX" {
		dir = filepath.Join(dir, "."+strings.ReplaceAll(folder, "/", "."))
	}
	files := map[string]string{} // by name without flags
	for _, sub := range []string{"cur", "new"} {
		entries, err := os.ReadDir(filepath.Join(dir, sub))
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			base, _, _ := strings.Cut(e.Name(), ":2,")
			files[base] = filepath.Join(dir, sub, e.Name())
		}
	}
	list, err := os.ReadFile(filepath.Join(dir, "dovecot-uidlist"))
	if os.IsNotExist(err) && len(files) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	keywords, err := readKeywords(dir)
	if err != nil {
		return nil, err
	}
	var out []realserver.MailMessage
	var validity uint64
	for i, line := range strings.Split(strings.TrimRight(string(list), "\n"), "\n") {
		if i == 0 {
			for _, word := range strings.Fields(line) {
				if n, ok := strings.CutPrefix(word, "V"); ok {
					if validity, err = strconv.ParseUint(n, 10, 32); err != nil {
						return nil, err
					}
				}
			}
			continue
		}
		head, name, ok := strings.Cut(line, ":")
		uid, err := strconv.ParseUint(strings.Fields(head)[0], 10, 32)
		if !ok || err != nil {
			return nil, fmt.Errorf("uid list: %q", line)
		}
		base, _, _ := strings.Cut(name, ":2,")
		path, there := files[base]
		if !there {
			continue // removed; the list is rewritten later
		}
		delete(files, base)
		m := realserver.MailMessage{Validity: uint32(validity), UID: uint32(uid)}
		if err := readMessage(&m, path, keywords); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	if len(files) > 0 {
		return nil, fmt.Errorf("%d files of %s have no UID yet", len(files), folder)
	}
	return out, nil
}

func readMessage(m *realserver.MailMessage, path string, keywords map[byte]string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	m.Received = info.ModTime()
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	m.Content = bytes.ReplaceAll(bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n"))
	_, flags, _ := strings.Cut(filepath.Base(path), ":2,")
	for i := range len(flags) {
		if name := flagLetters[flags[i]]; name != "" {
			m.Flags = append(m.Flags, name)
		} else if name := keywords[flags[i]]; name != "" {
			m.Flags = append(m.Flags, name)
		}
	}
	return nil
}

// readKeywords returns the names of a folder's own flags by their letters.
func readKeywords(dir string) (map[byte]string, error) {
	text, err := os.ReadFile(filepath.Join(dir, "dovecot-keywords"))
	if os.IsNotExist(err) {
		return nil, nil
	}
	out := map[byte]string{}
	for _, line := range strings.Split(string(text), "\n") {
		if n, name, ok := strings.Cut(line, " "); ok {
			if i, err := strconv.Atoi(n); err == nil && i < 26 {
				out['a'+byte(i)] = name
			}
		}
	}
	return out, err
}
