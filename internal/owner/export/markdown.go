package export

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// markdown writes records for people. A conversation is one text, its messages in the order of time. The texts wait
// in a file until all are known.
type markdown struct {
	to      io.Writer
	spool   *os.File
	out     *bufio.Writer
	written int64
	parts   []markdownPart
}

// markdownPart is a piece of the waiting texts.
type markdownPart struct {
	document string // the record or the conversation
	title    string
	at       time.Time
	offset   int64
	length   int
}

func newMarkdown(to io.Writer, _ []api.Stream) (Writer, error) {
	spool, err := os.CreateTemp("", "pdpp-export-") // mode 0600
	if err != nil {
		return nil, err
	}
	return &markdown{to: to, spool: spool, out: bufio.NewWriterSize(spool, 1<<16)}, nil
}

func (m *markdown) Write(s *api.Stream, r *Record) error {
	p := markdownPart{document: s.ConnectionID + "/" + s.Name + "/" + r.Key, offset: m.written}
	p.at, _ = r.at(s)
	p.title = singleLine(r.role(s, "title"))
	var text strings.Builder
	if thread := r.role(s, "thread"); thread != "" && s.Display.Kind == "message" {
		p.document = s.ConnectionID + "/" + s.Name + "/thread/" + thread
		who := singleLine(cmp.Or(r.role(s, "author"), r.role(s, "speaker"), "Unknown"))
		fmt.Fprintf(&text, "## %s, %s\n\n", escapeMarkdown(who), markdownTime(p.at, s))
		p.title = singleLine(cmp.Or(r.Thread, p.title, thread))
	} else {
		p.title = cmp.Or(p.title, firstLine(r.body(s)), r.Key)
		markdownFacts(&text, s, r)
	}
	text.WriteString(strings.TrimRight(r.body(s), "\n") + "\n\n")
	p.length = text.Len()
	m.written += int64(p.length)
	m.parts = append(m.parts, p)
	_, err := m.out.WriteString(text.String())
	return err
}

// markdownFacts writes the short fields of a record.
func markdownFacts(text *strings.Builder, s *api.Stream, r *Record) {
	for _, role := range []string{"time", "author", "link"} {
		if value := singleLine(r.role(s, role)); value != "" {
			fmt.Fprintf(text, "- %s: %s\n", s.Display.Roles[role], escapeMarkdown(value))
		}
	}
	for _, field := range []string{"to", "cc", "tags", "labels", "folder", "path"} {
		value := strings.Join(r.list(field), ", ")
		if value == "" && s.FieldKinds[field] == api.FieldText {
			value = r.text(field)
		}
		if value != "" {
			fmt.Fprintf(text, "- %s: %s\n", field, escapeMarkdown(singleLine(value)))
		}
	}
	if text.Len() > 0 {
		text.WriteString("\n")
	}
}

// documents returns the parts of each document in the order of time, the documents in the order of their first record.
func (m *markdown) documents() (all [][]markdownPart) {
	place := map[string]int{}
	for _, p := range m.parts {
		i, known := place[p.document]
		if !known {
			i = len(all)
			place[p.document], all = i, append(all, nil)
		}
		all[i] = append(all[i], p)
	}
	for _, parts := range all {
		slices.SortStableFunc(parts, func(a, b markdownPart) int { return a.at.Compare(b.at) })
	}
	return all
}

func (m *markdown) copyDocument(to io.Writer, parts []markdownPart) error {
	if _, err := fmt.Fprintf(to, "# %s\n\n", escapeMarkdown(parts[0].title)); err != nil {
		return err
	}
	for _, p := range parts {
		if _, err := io.Copy(to, io.NewSectionReader(m.spool, p.offset, int64(p.length))); err != nil {
			return err
		}
	}
	return nil
}

func (m *markdown) Close() error {
	defer m.discard()
	if err := m.out.Flush(); err != nil {
		return err
	}
	for i, parts := range m.documents() {
		if i > 0 {
			if _, err := io.WriteString(m.to, "---\n\n"); err != nil {
				return err
			}
		}
		if err := m.copyDocument(m.to, parts); err != nil {
			return err
		}
	}
	return nil
}

func (m *markdown) discard() {
	_ = m.spool.Close()
	_ = os.Remove(m.spool.Name())
}

// split writes each document as a file of a folder.
func (m *markdown) split(folder string) error {
	defer m.discard()
	if err := m.out.Flush(); err != nil {
		return err
	}
	for _, parts := range m.documents() {
		err := fillFile(filepath.Join(folder, documentName(parts[0])), func(to io.Writer) error {
			return m.copyDocument(to, parts)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// documentName is the title and a part of a hash, so that two documents with one title are two files.
func documentName(p markdownPart) string {
	sum := sha256.Sum256([]byte(p.document))
	day := ""
	if !p.at.IsZero() {
		day = p.at.UTC().Format(time.DateOnly) + " "
	}
	return day + fileTitle(p.title) + " " + hex.EncodeToString(sum[:4]) + ".md"
}

// fileTitle keeps letters, digits and spaces, so that the name is valid on every system.
func fileTitle(title string) string {
	plain := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_' {
			return r
		}
		return ' '
	}, title)
	plain = singleLine(plain)
	if short := []rune(plain); len(short) > 50 {
		plain = strings.TrimSpace(string(short[:50]))
	}
	return cmp.Or(plain, "untitled")
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if short := []rune(line); len(short) > 80 {
		line = string(short[:80])
	}
	return singleLine(line)
}

func markdownTime(at time.Time, s *api.Stream) string {
	switch {
	case at.IsZero():
		return "no time"
	case s.Display.Days:
		return at.UTC().Format(time.DateOnly)
	}
	return at.UTC().Format("2006-01-02 15:04 UTC")
}

var markdownSigns = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`,
	">", `\>`, "#", `\#`)

// escapeMarkdown keeps a title or a name from being formatted. Texts of records stay as they are.
func escapeMarkdown(text string) string { return markdownSigns.Replace(text) }
