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

// maxExportBytes is how long the text of a chat may be: the app exports at most 40,000 messages.
const maxExportBytes = 64 << 20

var (
	errEmptyExport = errors.New("the export has no messages")
	errNotAnExport = errors.New("no line of the file begins a message")
	errTooLarge    = errors.New("the export is too long")
)

// exportPosition is how many messages of an export were sent.
type exportPosition struct {
	Messages int `json:"messages"`
}

// readExport reads an exported chat. The message ids show which messages an earlier export had: they are derived from
// text, time and author, not from offsets.
func (s ownerSettings) readExport(ctx context.Context, m *localarchive.Member) error {
	in, err := m.Open(ctx, 0)
	if err != nil {
		return err
	}
	content, err := io.ReadAll(io.LimitReader(in, maxExportBytes+1))
	if err = errors.Join(err, in.Close()); err != nil {
		return err
	}
	if len(content) > maxExportBytes {
		return &localfile.RefusedError{Reason: reasonTooLarge, Err: errTooLarge}
	}
	text := decodeText(content)
	if readableText(text) == "" {
		return &localfile.RefusedError{Reason: reasonEmpty, Err: errEmptyExport}
	}
	p := parseExport(text, s.order)
	if len(p.lines) == 0 {
		return &localfile.RefusedError{Reason: reasonUnsupported, Err: errNotAnExport}
	}
	for range p.rejected {
		m.Skip("before_the_first_message")
	}
	var done exportPosition
	m.State(&done)
	c, messages := s.recordsOfExport(p, exportFileName(m))
	for i, one := range messages {
		if i < done.Messages {
			continue
		}
		m.Emit("messages", connectorkit.Upsert(&one.messageRecord))
		if one.attachment != nil {
			m.Emit("attachments", connectorkit.Upsert(one.attachment))
		}
		if err := m.Place(ctx, func() any { return exportPosition{i + 1} }); err != nil {
			return err
		}
	}
	m.Emit("chats", connectorkit.Upsert(c))
	return nil
}

// exportFileName is the name of the file that the app named: that of the archive for a phone that
// calls all chats alike.
func exportFileName(m *localarchive.Member) string {
	if name := path.Base(m.Name); m.Archive == "" || name != "_chat.txt" {
		return name
	}
	return path.Base(m.Archive)
}

// decodeText decodes a text that another program may have converted.
func decodeText(content []byte) string {
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

// exportedMessage is a message with the file that it names.
type exportedMessage struct {
	messageRecord
	attachment *attachment
}

// recordsOfExport returns the records of an export.
func (s ownerSettings) recordsOfExport(p parsedExport, file string) (*chatRecord, []*exportedMessage) {
	people := map[string]bool{}
	for _, l := range p.lines {
		if l.author != "" && !l.isSystemEvent() {
			people[l.author] = true
		}
	}
	title, named := chatTitleOfFile(file)
	c := &chatRecord{Title: title, Participants: slices.Sorted(maps.Keys(people)), Source: "export"}
	if c.Participants == nil {
		c.Participants = []string{}
	}
	identity := "title\x00" + strings.ToLower(title)
	if !named && len(people) == 2 { // the original file name is unknown: the two people are the title
		identity = "people\x00" + strings.ToLower(strings.Join(c.Participants, "\x00"))
	}
	c.ID = "export:" + hashText(identity)
	equal := map[string]int{}
	var list []*exportedMessage
	var first, last time.Time
	for i := range p.lines {
		one, at := s.messageFromLine(&p.lines[i], p.dayFirst, c.ID, equal)
		list = append(list, one)
		if first.IsZero() || at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
	}
	n := len(list)
	c.MessageCount, c.First, c.Last = &n, formatTimestamp(first), formatTimestamp(last)
	return c, list
}

// isSystemEvent reports whether WhatsApp wrote the line.
func (l *exportLine) isSystemEvent() bool {
	if l.author == "" {
		return true
	}
	text := readableText(l.text)
	return l.own && !beginsWithAny(nonEventPrefixes, text) && !equalsAny(deletedMarkers, firstLineOf(text)) &&
		l.attachedFileName() == "" &&
		!equalsAny(omittedMarkers, firstLineOf(text)) && l.sharedKind() == ""
}

// sharedKind is the kind of what an app wrote in a person's name: a place or a call; empty for others.
func (l *exportLine) sharedKind() string {
	text := readableText(l.text)
	switch {
	case l.author == "":
	case l.own && callPattern.MatchString(text):
		return "call"
	case locationPattern.MatchString(firstLineOf(text)) && (l.own || beginsWithAny(nonEventPrefixes, text)):
		return "location"
	}
	return ""
}

func firstLineOf(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(first)
}

// attachedFileName returns the file that the line names; empty when it names none.
func (l *exportLine) attachedFileName() string {
	first := readableText(firstLineOf(l.text))
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

// documentName returns the original name of a document; empty when the line has none.
func (l *exportLine) documentName() string {
	if m := documentIOS.FindStringSubmatch(readableText(firstLineOf(l.text))); m != nil {
		return strings.TrimSpace(m[1])
	}
	return ""
}

// messageFromLine makes a message of a line. Its id is that of its chat, author, time and text, with
// a number for equal ones. Day and month go into it without their order, which may be found
// out otherwise from a longer export, and a file without its name, which an export without
// files does not have.
func (s ownerSettings) messageFromLine(l *exportLine, first bool, chatID string,
	equal map[string]int) (*exportedMessage, time.Time) {
	local, _ := l.stamp.dateTime(first)
	at := time.Date(local.Year(), local.Month(), local.Day(), local.Hour(), local.Minute(), local.Second(), 0, s.zone)
	form := "2006-01-02T15:04:05"
	if !l.stamp.seconds {
		form = "2006-01-02T15:04"
	}
	one := &exportedMessage{messageRecord: messageRecord{ChatID: chatID, Author: l.author, Kind: "message",
		SentAt:      formatTimestamp(at),
		SentAtLocal: local.Format(form), Source: "export"}}
	text := l.text
	if cut := editedSuffix.ReplaceAllString(text, ""); cut != text {
		text, one.Edited = cut, true
	}
	text = strings.Map(func(r rune) rune {
		if isInvisible(r) || r == 0 {
			return -1
		}
		return r
	}, text)
	file, key, author := l.attachedFileName(), text, l.author // author is the person in the id
	head, caption, _ := strings.Cut(text, "\n")
	switch kind := l.sharedKind(); {
	case kind != "":
		one.Kind = kind
		if !beginsWithAny(nonEventPrefixes, readableText(text)) { // earlier versions took it for an event
			author, key = "", readableText(l.author+"\x00"+text)
		}
	case l.isSystemEvent():
		one.Kind, one.Author, author = "event", "", ""
		key = readableText(l.author + "\x00" + text)
	case equalsAny(deletedMarkers, head):
		one.Kind, text = "deleted", ""
	case file != "" || equalsAny(omittedMarkers, readableText(head)):
		one.HasAttachment, one.Kind = true, "file"
		text = caption
		key = "\x01" + caption
		if caption == "" {
			text = l.documentName()
		}
	}
	kept := localfile.Excerpt{Limit: maxTextBytes}
	kept.Text(text)
	one.Content, one.ContentCut = kept.Marked(), kept.Cut()
	date := []int{l.stamp.date[0], l.stamp.date[1]}
	slices.Sort(date)
	id := hashText(fmt.Sprintf("%s\x00%s\x00%v\x00%s\x00%s", chatID, author, date, local.Format("2006 15:04:05"),
		readableText(key)))
	n := equal[id]
	equal[id]++
	if one.ID = "export:" + id; n > 0 {
		one.ID = fmt.Sprintf("export:%s.%d", id, n+1)
	}
	if file != "" {
		one.attachment = &attachment{
			ID: one.ID + ":file", ChatID: chatID, MessageID: one.ID, Filename: file, ContentType: contentType(file),
			Hydration: "deferred", Source: "export",
		}
	}
	return one, at
}

// mediaTypes are those of files that WhatsApp names.
var mediaTypes = map[string]string{
	".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".webp": "image/webp", ".gif": "image/gif",
	".heic": "image/heic",
	".mp4":  "video/mp4", ".3gp": "video/3gpp", ".mov": "video/quicktime", ".opus": "audio/ogg", ".ogg": "audio/ogg",
	".m4a": "audio/mp4", ".aac": "audio/aac", ".mp3": "audio/mpeg",
	".amr": "audio/amr", ".pdf": "application/pdf", ".vcf": "text/vcard", ".txt": "text/plain", ".zip": "application/zip",
	".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}

func contentType(name string) string {
	if known := mediaTypes[strings.ToLower(path.Ext(name))]; known != "" {
		return known
	}
	return "application/octet-stream"
}

func hashText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:12])
}

func formatTimestamp(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format("2006-01-02T15:04:05.000Z")
}
