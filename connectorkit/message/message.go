// Package message reads messages as mail servers and mail programs keep them, whatever rules they
// break, and makes records of them: one mapping for every source of mail. A message passes through
// and is not kept, so that it may be larger than memory.
//
//	message.go  the content of a message, to records
//	mime.go     the parts of a message, as they pass
//	header.go   names and values before a body
//	words.go    other character sets, and HTML as text
package message

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	netmail "net/mail"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

// Head is the content of a message's head.
type Head struct {
	MessageID   string   `json:"message_id,omitzero"`
	ThreadID    string   `json:"thread_id,omitzero"`
	InReplyTo   string   `json:"in_reply_to,omitzero"`
	References  []string `json:"references,omitempty"`
	Labels      []string `json:"labels,omitempty"`
	Date        string   `json:"date,omitzero"`
	Subject     string   `json:"subject,omitzero"`
	FromName    string   `json:"from_name,omitzero"`
	FromAddress string   `json:"from_address,omitzero"`
	To          []string `json:"to,omitempty"`
	CC          []string `json:"cc,omitempty"`
	BCC         []string `json:"bcc,omitempty"`
	ReplyTo     []string `json:"reply_to,omitempty"`
	ListID      string   `json:"list_id,omitzero"`
}

// Body is the content of a message's body.
type Body struct {
	Text        string `json:"text"`
	Cut         bool   `json:"text_cut,omitzero"`
	HTML        bool   `json:"text_from_html,omitzero"`
	Attachments int    `json:"attachment_count"`
	BodyHash    string `json:"body_sha256"`
	Malformed   bool   `json:"malformed,omitzero"`
}

// Record is one message.
type Record struct {
	ID     string `json:"id"`
	Folder string `json:"folder"`
	Head
	Flags []string `json:"flags,omitempty"`
	Body
	Size int64 `json:"size_bytes"`
}

const (
	maxAddresses   = 500
	maxReferences  = 200
	maxTextBytes   = 1000
	maxAttachments = 500
)

// Message is a message being read.
type Message struct {
	Record
	Parts   []*Attachment // what came with it, up to a bound
	Unquote bool          // From at the beginning of a line is written with a sign before it
	// Files begins a file for the content of a part; nil where contents are not kept.
	Files   func() (*connectorkit.BlobWriter, error)
	trouble error       // with such a file
	last    *Attachment // what was being read when the message ended
	limit   int
	parser  mimeParser
	body    hash.Hash
	plains  []*textExcerpt
	pages   []*textExcerpt
	size    int64
}

// New reads a message of which up to limit bytes of text are kept.
func New(limit int) *Message {
	m := &Message{limit: limit, body: sha256.New()}
	m.parser.leaf = m.contentFor
	return m
}

// textExcerpt keeps the beginning of a text.
type textExcerpt struct {
	charset string
	b       bytes.Buffer
	limit   int
	cut     bool
}

func (l *textExcerpt) Write(b []byte) (int, error) {
	room := l.limit - l.b.Len()
	if len(b) > room {
		l.cut = true
	}
	if room > 0 {
		l.b.Write(b[:min(room, len(b))])
	}
	return len(b), nil
}

func (l *textExcerpt) closeContent() {}

// contentFor decides what becomes of a part: text is kept, everything else is measured and may be a file.
func (m *Message) contentFor(h *partHeader) contentWriter {
	kind, params := parseParameters(h.firstValue("content-type"))
	how, more := parseParameters(h.firstValue("content-disposition"))
	name := decodeHeaderWords(more["filename"])
	if name == "" {
		name = decodeHeaderWords(params["name"])
	}
	if kind == "" {
		kind = "text/plain"
	}
	if how != "attachment" && (name == "" || how == "inline") && (kind == "text/plain" || kind == "text/html") &&
		len(m.plains)+len(m.pages) < 50 {
		l := &textExcerpt{charset: params["charset"], limit: 4*m.limit + 64}
		if kind == "text/html" {
			m.pages = append(m.pages, l)
		} else {
			m.plains = append(m.plains, l)
		}
		return l
	}
	a := &Attachment{Name: localfile.ShortText(name, maxTextBytes),
		Type:   localfile.ShortText(decodeHeaderWords(kind), 200),
		Inline: how == "inline", ContentID: localfile.ShortText(trimAngleBrackets(h.firstValue("content-id")), 300)}
	a.Status = DeferredContent
	to := &measuredContent{m: m, a: a, hash: sha256.New()}
	if m.Attachments++; m.Attachments <= maxAttachments {
		m.Parts = append(m.Parts, a)
		if m.Files != nil && m.trouble == nil {
			to.file, m.trouble = m.Files()
		}
	}
	return to
}

// MarkTruncated marks the message as longer than what was read: the part that was being read is not
// whole, so that it is not kept.
func (m *Message) MarkTruncated() {
	if m.last != nil && m.last.saved != nil {
		m.last.saved.Remove()
		m.last.setOutcome(connectorkit.OversizedBlob())
	}
}

// Read reads a message from its beginning to its end.
func (m *Message) Read(r *bufio.Reader) error {
	err := m.Parse(func() ([]byte, bool, error) {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return line, false, nil
		}
		if errors.Is(err, io.EOF) && len(line) > 0 {
			return line, true, nil
		}
		return line, true, err
	})
	m.Size = m.size
	return err
}

// Parse reads the lines of next until io.EOF and fills in the record, except for its key,
// its folder and its flags.
func (m *Message) Parse(next func() ([]byte, bool, error)) error {
	inBody, begin := false, true
	err := m.parser.parseLines(func() ([]byte, bool, error) {
		line, whole, err := next()
		if err != nil {
			return line, whole, err
		}
		m.size += int64(len(line))
		if m.Unquote && begin {
			if bare := bytes.TrimLeft(line, ">"); len(bare) < len(line) && bytes.HasPrefix(bare, []byte("From ")) {
				line = line[1:]
			}
		}
		if inBody {
			_, _ = m.body.Write(line) // a hash never fails
		}
		inBody = inBody || begin && len(bytes.TrimRight(line, "\r\n")) == 0
		begin = whole
		return line, whole, nil
	})
	if s, ok := m.parser.unended.(*measuredContent); ok {
		m.last = s.a
	}
	if err == nil {
		err = m.trouble
	}
	if err != nil {
		m.DiscardFiles()
		return err
	}
	m.readHeadFields(&m.parser.top)
	m.assembleText()
	return nil
}

// ReadHead parses the lines of a head.
func ReadHead(lines []byte) (Head, bool) {
	var h partHeader
	for line := range bytes.Lines(lines) {
		if !h.addLine(bytes.TrimRight(line, "\r\n"), true) {
			break
		}
	}
	m := Message{body: sha256.New()}
	m.readHeadFields(&h)
	return m.Head, h.broken
}

// readHeadFields fills in the fields of the head.
func (m *Message) readHeadFields(h *partHeader) {
	r := &m.Record
	r.MessageID = localfile.ShortText(trimAngleBrackets(h.firstValue("message-id")), maxTextBytes)
	r.References = messageIDs(h.firstValue("references"))
	if list := messageIDs(h.firstValue("in-reply-to")); len(list) > 0 {
		r.InReplyTo = list[0]
	}
	switch gmail := localfile.ShortText(decodeHeaderWords(h.firstValue("x-gm-thrid")), maxTextBytes); {
	case gmail != "": // Gmail's own, in its exports
		r.ThreadID = gmail
	case len(r.References) > 0:
		r.ThreadID = r.References[0]
	case r.InReplyTo != "":
		r.ThreadID = r.InReplyTo
	default:
		r.ThreadID = r.MessageID
	}
	r.Subject = localfile.ShortText(decodeHeaderWords(h.firstValue("subject")), maxTextBytes)
	if at, err := netmail.ParseDate(decodeHeaderWords(h.firstValue("date"))); err == nil && at.UTC().Year() >= 1 &&
		at.UTC().Year() <= 9999 {
		r.Date = at.UTC().Format(time.RFC3339)
	}
	if from := parseAddresses(h.values["from"]); len(from) > 0 {
		r.FromName, r.FromAddress = from[0].Name, from[0].Address
	}
	for name, to := range map[string]*[]string{"to": &r.To, "cc": &r.CC, "bcc": &r.BCC, "reply-to": &r.ReplyTo} {
		for _, a := range parseAddresses(h.values[name]) {
			*to = append(*to, displayAddress(a))
		}
	}
	r.ListID = localfile.ShortText(decodeHeaderWords(h.firstValue("list-id")), maxTextBytes)
	for _, value := range h.values["x-gmail-labels"] {
		for _, label := range strings.Split(decodeHeaderWords(value), ",") {
			if label = localfile.ShortText(strings.Trim(strings.TrimSpace(label), `"`), 200); label != "" &&
				len(r.Labels) < maxReferences && !slices.Contains(r.Labels, label) {
				r.Labels = append(r.Labels, label)
			}
		}
	}
	status := h.firstValue("status") + h.firstValue("x-status")
	for _, f := range []struct{ letter, name string }{{"R", "seen"}, {"A", "replied"}, {"F", "flagged"}, {"D", "trashed"},
		{"T", "draft"}} {
		if strings.Contains(status, f.letter) {
			r.Flags = append(r.Flags, f.name)
		}
	}
	for _, name := range mozillaFlags(h.firstValue("x-mozilla-status")) {
		if !slices.Contains(r.Flags, name) {
			r.Flags = append(r.Flags, name)
		}
	}
	slices.Sort(r.Flags)
	r.BodyHash = hex.EncodeToString(m.body.Sum(nil))
	r.Malformed = m.parser.malformed
}

// assembleText joins the text: the plain parts or, without them, the text of the HTML parts.
func (m *Message) assembleText() {
	r := &m.Record
	join := func(list []*textExcerpt, turn func(string) string) string {
		var all []string
		for _, l := range list {
			if text := strings.TrimSpace(turn(strings.ReplaceAll(decodeCharset(l.b.Bytes(), l.charset), "\r\n",
				"\n"))); text != "" {
				all = append(all, text)
			}
			r.Cut = r.Cut || l.cut
		}
		return strings.Join(all, "\n\n")
	}
	text := join(m.plains, func(s string) string { return s })
	if text == "" && len(m.pages) > 0 {
		r.Cut = false
		text, r.HTML = join(m.pages, htmlToText), true
	}
	e := localfile.Excerpt{Limit: m.limit}
	e.Text(strings.ToValidUTF8(text, "\uFFFD"))
	r.Text, r.Cut = e.String(), r.Cut || e.Cut()
}

// Identify derives the message's key from its own id and other constant parts of its head; without
// an id, by its body too.
func (m *Message) Identify(prefix string) {
	sum := sha256.New()
	parts := []string{m.MessageID, m.Date, m.FromAddress, m.Subject}
	if m.MessageID == "" {
		parts = append(parts, strings.Join(m.To, ","), m.BodyHash)
	}
	_, _ = fmt.Fprintf(sum, "%q", parts) // a hash never fails
	m.ID = prefix + hex.EncodeToString(sum.Sum(nil)[:12])
}

// mozillaFlags reads what Thunderbird writes into its mailboxes: four hexadecimal digits, a bit for
// each flag. What it has deleted stays there until the folder is compacted.
func mozillaFlags(status string) (names []string) {
	bits, err := strconv.ParseUint(strings.TrimSpace(status), 16, 16)
	if err != nil {
		return nil
	}
	for _, f := range []struct {
		bit  uint64
		name string
	}{{0x0001, "seen"}, {0x0002, "replied"}, {0x0004, "flagged"}, {0x0008, "trashed"}, {0x1000, "passed"}} {
		if bits&f.bit != 0 {
			names = append(names, f.name)
		}
	}
	return names
}
