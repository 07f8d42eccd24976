package whatsapp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localarchive"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
	"github.com/pdpp-go/pdpp/protocol"
)

// Reasons of gaps.
const (
	reasonEmpty       protocol.Reason = "empty_export"
	reasonUnsupported protocol.Reason = "unsupported_export"
	reasonTooLarge    protocol.Reason = "import_exceeds_bounded_read_policy"
)

// maxExport is how long the text of a chat may be: the app exports at most 40,000 messages.
const maxExport = 64 << 20

var (
	errEmpty    = errors.New("the export has no messages")
	errOther    = errors.New("no line of the file begins a message")
	errTooLarge = errors.New("the export is too long")
)

// place is how many messages of an export were brought.
type place struct {
	Messages int `json:"messages"`
}

// read reads an exported chat. Which of its messages an earlier export has brought, their
// ids tell: they are made of what is said, when and by whom, not of places in a file.
func (s settings) read(ctx context.Context, m *localarchive.Member) error {
	in, err := m.Open(ctx, 0)
	if err != nil {
		return err
	}
	content, err := io.ReadAll(io.LimitReader(in, maxExport+1))
	if err = errors.Join(err, in.Close()); err != nil {
		return err
	}
	if len(content) > maxExport {
		return &localfile.RefusedError{Reason: reasonTooLarge, Err: errTooLarge}
	}
	text := decode(content)
	if clean(text) == "" {
		return &localfile.RefusedError{Reason: reasonEmpty, Err: errEmpty}
	}
	p := parse(text, s.order)
	if len(p.lines) == 0 {
		return &localfile.RefusedError{Reason: reasonUnsupported, Err: errOther}
	}
	for range p.rejected {
		m.Skip("before_the_first_message")
	}
	var done place
	m.State(&done)
	c, messages := s.records(p, nameOf(m))
	for i, one := range messages {
		if i < done.Messages {
			continue
		}
		m.Emit("messages", connectorkit.Upsert(&one.message))
		if one.attachment != nil {
			m.Emit("attachments", connectorkit.Upsert(one.attachment))
		}
		if err := m.Place(ctx, func() any { return place{i + 1} }); err != nil {
			return err
		}
	}
	m.Emit("chats", connectorkit.Upsert(c))
	return nil
}

// nameOf is the name of the file that the app named: that of the archive for a phone that
// calls all chats alike.
func nameOf(m *localarchive.Member) string {
	if name := path.Base(m.Name); m.Archive == "" || name != "_chat.txt" {
		return name
	}
	return path.Base(m.Archive)
}

// decode makes a text of what may have gone through another program.
func decode(content []byte) string {
	wide := func(order binary.ByteOrder) string {
		units := make([]uint16, len(content)/2)
		for i := range units {
			units[i] = order.Uint16(content[2*i:])
		}
		return string(utf16.Decode(units))
	}
	switch {
	case bytes.HasPrefix(content, []byte{0xff, 0xfe}):
		return wide(binary.LittleEndian)
	case bytes.HasPrefix(content, []byte{0xfe, 0xff}):
		return wide(binary.BigEndian)
	}
	return strings.ToValidUTF8(string(content), "\ufffd")
}

// exported is a message with the file that it names.
type exported struct {
	message
	attachment *attachment
}

// records are what an export says.
func (s settings) records(p parsed, file string) (*chat, []*exported) {
	people := map[string]bool{}
	for _, l := range p.lines {
		if l.author != "" && !l.event() {
			people[l.author] = true
		}
	}
	title, named := titleOf(file)
	c := &chat{Title: title, Participants: slices.Sorted(maps.Keys(people)), Source: "export"}
	if c.Participants == nil {
		c.Participants = []string{}
	}
	identity := "title\x00" + strings.ToLower(title)
	if !named && len(people) == 2 { // nobody knows what the file was called: these two talk
		identity = "people\x00" + strings.ToLower(strings.Join(c.Participants, "\x00"))
	}
	c.ID = "export:" + hashOf(identity)
	equal := map[string]int{}
	var list []*exported
	var first, last time.Time
	for i := range p.lines {
		one, at := s.record(&p.lines[i], p.dayFirst, c.ID, equal)
		list = append(list, one)
		if first.IsZero() || at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
	}
	n := len(list)
	c.MessageCount, c.First, c.Last = &n, stampOf(first), stampOf(last)
	return c, list
}

// event reports whether nobody wrote the line.
func (l *line) event() bool {
	if l.author == "" {
		return true
	}
	text := clean(l.text)
	return l.own && !begins(notEvents, text) && !listed(deleted, firstLine(text)) && l.file() == "" &&
		!listed(omitted, firstLine(text)) && l.shared() == ""
}

// shared is the kind of what an app wrote in a person's name: a place or a call; empty for others.
func (l *line) shared() string {
	text := clean(l.text)
	switch {
	case l.author == "":
	case l.own && rang.MatchString(text):
		return "call"
	case located.MatchString(firstLine(text)) && (l.own || begins(notEvents, text)):
		return "location"
	}
	return ""
}

func firstLine(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(first)
}

// file is the name of the file that the line names; empty when it names none.
func (l *line) file() string {
	first := clean(firstLine(l.text))
	for _, form := range []interface{ FindStringSubmatch(string) []string }{attachedIOS, attachedAndroid} {
		if m := form.FindStringSubmatch(first); m != nil {
			return m[1]
		}
	}
	if m := documentIOS.FindStringSubmatch(first); m != nil {
		return m[2]
	}
	return ""
}

// document is the name that a document had; empty where the line has none.
func (l *line) document() string {
	if m := documentIOS.FindStringSubmatch(clean(firstLine(l.text))); m != nil {
		return strings.TrimSpace(m[1])
	}
	return ""
}

// record makes a message of a line. Its id is that of its chat, author, time and text, with
// a number for equal ones. Day and month go into it without their order, which may be found
// out otherwise from a longer export, and a file without its name, which an export without
// files does not have.
func (s settings) record(l *line, first bool, chatID string, equal map[string]int) (*exported, time.Time) {
	local, _ := l.stamp.day(first)
	at := time.Date(local.Year(), local.Month(), local.Day(), local.Hour(), local.Minute(), local.Second(), 0, s.zone)
	form := "2006-01-02T15:04:05"
	if !l.stamp.seconds {
		form = "2006-01-02T15:04"
	}
	one := &exported{message: message{ChatID: chatID, Author: l.author, Kind: "message", SentAt: stampOf(at), SentAtLocal: local.Format(form), Source: "export"}}
	text := l.text
	if cut := edited.ReplaceAllString(text, ""); cut != text {
		text, one.Edited = cut, true
	}
	text = strings.Map(func(r rune) rune {
		if invisible(r) || r == 0 {
			return -1
		}
		return r
	}, text)
	file, key, author := l.file(), text, l.author // author is the person in the id
	head, caption, _ := strings.Cut(text, "\n")
	switch kind := l.shared(); {
	case kind != "":
		one.Kind = kind
		if !begins(notEvents, clean(text)) { // earlier versions took it for an event
			author, key = "", clean(l.author+"\x00"+text)
		}
	case l.event():
		one.Kind, one.Author, author = "event", "", ""
		key = clean(l.author + "\x00" + text)
	case listed(deleted, head):
		one.Kind, text = "deleted", ""
	case file != "" || listed(omitted, clean(head)):
		one.HasAttachment, one.Kind = true, "file"
		text = caption
		key = "\x01" + caption
		if caption == "" {
			text = l.document()
		}
	}
	kept := localfile.Excerpt{Limit: maxText}
	kept.Text(text)
	one.Content, one.ContentCut = kept.Marked(), kept.Cut()
	date := []int{l.stamp.date[0], l.stamp.date[1]}
	slices.Sort(date)
	id := hashOf(fmt.Sprintf("%s\x00%s\x00%v\x00%s\x00%s", chatID, author, date, local.Format("2006 15:04:05"),
		clean(key)))
	n := equal[id]
	equal[id]++
	if one.ID = "export:" + id; n > 0 {
		one.ID = fmt.Sprintf("export:%s.%d", id, n+1)
	}
	if file != "" {
		one.attachment = &attachment{
			ID: one.ID + ":file", ChatID: chatID, MessageID: one.ID, Filename: file, ContentType: contentType(file), Hydration: "deferred", Source: "export",
		}
	}
	return one, at
}

// types are those of files that WhatsApp names.
var types = map[string]string{
	".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".webp": "image/webp", ".gif": "image/gif", ".heic": "image/heic",
	".mp4": "video/mp4", ".3gp": "video/3gpp", ".mov": "video/quicktime", ".opus": "audio/ogg", ".ogg": "audio/ogg", ".m4a": "audio/mp4", ".aac": "audio/aac", ".mp3": "audio/mpeg",
	".amr": "audio/amr", ".pdf": "application/pdf", ".vcf": "text/vcard", ".txt": "text/plain", ".zip": "application/zip",
	".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document", ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}

func contentType(name string) string {
	if known := types[strings.ToLower(path.Ext(name))]; known != "" {
		return known
	}
	return "application/octet-stream"
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:12])
}

func stampOf(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format("2006-01-02T15:04:05.000Z")
}
