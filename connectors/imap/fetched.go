package imap

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit/message"
)

// fetchedMessage is the answer of FETCH for one message.
type fetchedMessage struct {
	uid      uint32
	flags    []string
	date     string
	size     int64
	head     []byte
	hasHead  bool
	body     *message.Message
	gmailID  string
	thread   string
	labels   []string
	hasGmail bool
	cut      bool
}

// readFetch reads the answer for one message. A body is streamed.
func (p *responseParser) readFetch(a *serverAnswer, got func(*fetchedMessage) error) error {
	m := &fetchedMessage{}
	defer func() { p.first = nil }()
	if err := p.readFetchItems(m); err != nil || m.uid == 0 || got == nil {
		if m.body != nil {
			m.body.DiscardFiles()
		}
		if err == nil && m.uid != 0 && !m.hasHead && m.body == nil {
			a.changed = a.changed.withRange(m.uid, m.uid)
		}
		return err // without a UID it is unsolicited, and its sequence number means nothing here
	}
	if !m.hasHead && m.body == nil {
		a.changed = a.changed.withRange(m.uid, m.uid)
	}
	return got(m)
}

// readFetchItems reads all items of a message.
func (p *responseParser) readFetchItems(m *fetchedMessage) error {
	if err := p.expectByte(' '); err != nil {
		return err
	}
	if err := p.expectByte('('); err != nil {
		return err
	}
	for !p.skipByte(')') {
		name, err := p.readWord()
		if err != nil {
			return err
		}
		if err := p.expectByte(' '); err != nil {
			return err
		}
		if p.first != nil {
			p.first.noteItemName(strings.ToUpper(name))
		}
		if err := p.readFetchItem(m, strings.ToUpper(name)); err != nil {
			return fmt.Errorf("%.40q: %w", name, err)
		}
		p.skipByte(' ')
	}
	return p.skipRestOfAnswer()
}

func (p *responseParser) readFetchItem(m *fetchedMessage, name string) (err error) {
	switch {
	case name == "UID":
		m.uid, err = p.readUID()
		return err
	case strings.HasPrefix(name, "BODY[]"):
		return p.readFetchedBody(m)
	case strings.HasPrefix(name, "BODY["):
		m.hasHead = true
		m.head, err = p.readBoundedString(maxHeaderBytes)
		return err
	}
	v, err := p.readValue(maxNestedLists)
	if err != nil {
		return err
	}
	text, _ := v.(string)
	switch name {
	case "FLAGS":
		if _, ok := v.([]any); !ok && v != nil {
			return errGrammar
		}
		m.flags = listTexts(v)
	case "INTERNALDATE":
		m.date = text
	case "RFC822.SIZE":
		if m.size, err = strconv.ParseInt(text, 10, 64); err != nil || m.size < 0 {
			return errGrammar
		}
	case "X-GM-MSGID":
		m.gmailID, m.hasGmail = text, true
	case "X-GM-THRID":
		m.thread = text
	case "X-GM-LABELS":
		m.labels = listTexts(v)
	}
	return nil
}

func (p *responseParser) readFetchedBody(m *fetchedMessage) error {
	r, err := p.openString()
	if err != nil {
		return err
	}
	if m.body != nil { // a repeated item
		m.body.DiscardFiles()
	}
	body := message.New(p.bodyLimit)
	body.Files = p.files
	if err := body.Read(bufio.NewReaderSize(r, 32<<10)); err != nil {
		return err
	}
	m.body = body
	if m.cut = body.Size >= p.bodyBytes; m.cut {
		body.MarkTruncated()
	}
	return nil
}
