package imap

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit/message"
)

// fetched is what FETCH says of one message.
type fetched struct {
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

// fetch reads what is said of one message. A body passes through on the way.
func (p *parser) fetch(a *answer, got func(*fetched) error) error {
	m := &fetched{}
	defer func() { p.first = nil }()
	if err := p.items(m); err != nil || m.uid == 0 || got == nil {
		if m.body != nil {
			m.body.Forget()
		}
		if err == nil && m.uid != 0 && !m.hasHead && m.body == nil {
			a.changed = a.changed.add(m.uid, m.uid)
		}
		return err // without a UID it was told without being asked, by a number that means nothing here
	}
	if !m.hasHead && m.body == nil {
		a.changed = a.changed.add(m.uid, m.uid)
	}
	return got(m)
}

// items reads all that is said of a message.
func (p *parser) items(m *fetched) error {
	if err := p.expect(' '); err != nil {
		return err
	}
	if err := p.expect('('); err != nil {
		return err
	}
	for !p.skip(')') {
		name, err := p.word()
		if err != nil {
			return err
		}
		if err := p.expect(' '); err != nil {
			return err
		}
		if p.first != nil {
			p.first.sawItem(strings.ToUpper(name))
		}
		if err := p.item(m, strings.ToUpper(name)); err != nil {
			return fmt.Errorf("%.40q: %w", name, err)
		}
		p.skip(' ')
	}
	return p.rest()
}

func (p *parser) item(m *fetched, name string) (err error) {
	switch {
	case name == "UID":
		m.uid, err = p.uid()
		return err
	case strings.HasPrefix(name, "BODY[]"):
		return p.body(m)
	case strings.HasPrefix(name, "BODY["):
		m.hasHead = true
		m.head, err = p.bytes(maxHead)
		return err
	}
	v, err := p.value(maxNesting)
	if err != nil {
		return err
	}
	text, _ := v.(string)
	switch name {
	case "FLAGS":
		if _, ok := v.([]any); !ok && v != nil {
			return errGrammar
		}
		m.flags = words(v)
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
		m.labels = words(v)
	}
	return nil
}

func (p *parser) body(m *fetched) error {
	r, err := p.open()
	if err != nil {
		return err
	}
	if m.body != nil { // it was said twice
		m.body.Forget()
	}
	body := message.New(p.bodyLimit)
	body.Files = p.files
	if err := body.Read(bufio.NewReaderSize(r, 32<<10)); err != nil {
		return err
	}
	m.body = body
	if m.cut = body.Size >= p.bodyBytes; m.cut {
		body.Cut()
	}
	return nil
}
