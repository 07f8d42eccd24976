package imap4d

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Deliver puts a message into the inbox as a program for delivery does, without IMAP.
func (s *Server) Deliver(at time.Time, content []byte) error {
	f, err := os.OpenFile(s.inboxPath(), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	content = bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
	_, err = fmt.Fprintf(f, "From jorn@harbour.example %s\n%s\n", at.UTC().Format(time.ANSIC), content)
	return errors.Join(err, f.Close())
}

func (s *Server) inboxPath() string { return filepath.Join(s.accountHome(), "INBOX") }

// Subjects returns the subjects of the messages in each folder, as the files have them.
func (s *Server) Subjects() (map[string][]string, error) {
	entries, err := os.ReadDir(s.accountHome())
	if err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for _, e := range entries {
		folder := e.Name()
		text, err := os.ReadFile(filepath.Join(s.accountHome(), folder))
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			if subject, ok := strings.CutPrefix(line, "Subject: "); ok {
				out[folder] = append(out[folder], strings.TrimSpace(subject))
			}
		}
	}
	return out, nil
}
