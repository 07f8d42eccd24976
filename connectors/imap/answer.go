package imap

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"pdpp/connectorkit"
	"pdpp/connectorkit/message"
)

// What a server may make us keep of one answer.
const (
	maxLine    = 64 << 10  // of a line of text
	maxString  = 1 << 20   // of one string but for a body
	maxHead    = 256 << 10 // of a message's head
	maxList    = 1 << 16   // members of a list
	maxNesting = 32
	maxSpans   = 1 << 20
)

var errGrammar = errors.New("the server breaks the grammar")

// errCut is a connection that ended within a literal, which has said how long it is.
var errCut = errors.New("the connection ended within a literal")

// answer is what a server said to one command.
type answer struct {
	status string // OK, NO or BAD
	code   string // in brackets: its name, in capitals
	args   string // and what follows it
	text   string

	exists   int64
	validity uint32
	uidNext  uint32
	modseq   uint64
	found    uids // by SEARCH
	vanished uids
	changed  uids // told without being asked for
	folders  []listed
	status2  map[string]boxStatus
	id       string // of the folder that was opened, whatever its name is; empty where the server has none
	caps     []string
	bye      *answer
}

// listed is one line of LIST.
type listed struct {
	flags     []string
	delimiter string
	raw       string // as commands have it
}

// boxStatus is what STATUS says of a folder.
type boxStatus struct {
	messages int64
	uidNext  uint32
	validity uint32
	modseq   uint64
}

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

// parser reads what a server says. Strings are bounded, and bodies pass through.
type parser struct {
	r *bufio.Reader
	// bodyLimit is how much text of a body is kept, and bodyBytes where it was cut.
	bodyLimit int
	bodyBytes int64
	// files begins a file for what came with a body; nil where nobody asks for it.
	files func() (*connectorkit.BlobWriter, error)
}

func (p *parser) byte() (byte, error) { return p.r.ReadByte() }

func (p *parser) peek() (byte, error) {
	b, err := p.r.Peek(1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

func (p *parser) expect(c byte) error {
	got, err := p.byte()
	if err == nil && got != c {
		err = errGrammar
	}
	return err
}

// skip passes over a byte if it is next.
func (p *parser) skip(c byte) bool {
	got, err := p.peek()
	if err == nil && got == c {
		_, _ = p.byte()
		return true
	}
	return false
}

// line reads the rest of a line as text.
func (p *parser) line() (string, error) {
	var b []byte
	for {
		piece, err := p.r.ReadSlice('\n')
		if len(b)+len(piece) <= maxLine {
			b = append(b, piece...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return strings.TrimRight(string(b), "\r\n"), err
	}
}

// rest passes over the rest of an answer, literals included.
func (p *parser) rest() error {
	for {
		line, err := p.line()
		if err != nil {
			return err
		}
		n, ok := literalSize(line)
		if !ok {
			return nil
		}
		if _, err := io.CopyN(io.Discard, p.r, n); err != nil {
			return err
		}
	}
}

func literalSize(line string) (int64, bool) {
	open := strings.LastIndexByte(line, '{')
	if open < 0 || !strings.HasSuffix(line, "}") {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSuffix(line[open+1:len(line)-1], "+"), 10, 63)
	return n, err == nil && n >= 0
}

// word reads up to a space, a parenthesis or the end of a line; what is in brackets belongs to it.
func (p *parser) word() (string, error) {
	var b []byte
	depth := 0
	for {
		c, err := p.peek()
		if err != nil {
			return "", err
		}
		if c == '\r' || c == '\n' || depth == 0 && (c == ' ' || c == ')' || c == '(') {
			break
		}
		switch c {
		case '[':
			depth++
		case ']':
			depth--
		}
		_, _ = p.byte()
		if b = append(b, c); len(b) > maxLine {
			return "", errGrammar
		}
	}
	return string(b), nil
}

func (p *parser) number() (uint64, error) {
	w, err := p.word()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(w, 10, 64)
	if err != nil {
		return 0, errGrammar
	}
	return n, nil
}

func (p *parser) uid() (uint32, error) {
	n, err := p.number()
	if err == nil && (n == 0 || n > 1<<32-1) {
		err = errGrammar
	}
	return uint32(n), err
}

// set reads a set of UIDs as it comes, however long it is.
func (p *parser) set() (uids, error) {
	var out uids
	for {
		var ends [2]uint64
		for i := range ends {
			digits := 0
			for {
				c, err := p.peek()
				if err != nil {
					return nil, err
				}
				if c < '0' || c > '9' {
					break
				}
				_, _ = p.byte()
				if ends[i] = ends[i]*10 + uint64(c-'0'); ends[i] > 1<<32-1 {
					return nil, errGrammar
				}
				digits++
			}
			if digits == 0 || ends[i] == 0 {
				return nil, errGrammar
			}
			if i == 0 && !p.skip(':') {
				ends[1] = ends[0]
				break
			}
		}
		if out = out.add(uint32(ends[0]), uint32(ends[1])); len(out) > maxSpans {
			return nil, errGrammar
		}
		if !p.skip(',') {
			return out, nil
		}
	}
}

// value reads a string, an atom, or a list of them; NIL is nil.
func (p *parser) value(depth int) (any, error) {
	c, err := p.peek()
	switch {
	case err != nil:
		return nil, err
	case c == '(':
		_, _ = p.byte()
		var list []any
		for {
			if p.skip(')') {
				return list, nil
			}
			if depth == 0 || len(list) > maxList {
				return nil, errGrammar
			}
			v, err := p.value(depth - 1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
			p.skip(' ')
		}
	case c == '"' || c == '{':
		b, err := p.bytes(maxString)
		return string(b), err
	}
	w, err := p.word()
	switch {
	case err != nil:
		return nil, err
	case w == "":
		return nil, errGrammar
	case strings.EqualFold(w, "NIL"):
		return nil, nil
	}
	return w, nil
}

// open gives the content of a string as a reader, which is read to its end before anything else.
func (p *parser) open() (io.Reader, error) {
	c, err := p.peek()
	if err != nil {
		return nil, err
	}
	switch c {
	case '{':
		line, err := p.line()
		if err != nil {
			return nil, err
		}
		n, ok := literalSize(line)
		if !ok {
			return nil, errGrammar
		}
		return &exactly{r: p.r, left: n}, nil
	case '"':
		b, err := p.quoted()
		return bytes.NewReader(b), err
	}
	w, err := p.word()
	if err == nil && !strings.EqualFold(w, "NIL") {
		err = errGrammar
	}
	return bytes.NewReader(nil), err
}

// exactly reads so many bytes; an earlier end is an error.
type exactly struct {
	r    io.Reader
	left int64
}

func (e *exactly) Read(b []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n, err := e.r.Read(b[:min(int64(len(b)), e.left)])
	e.left -= int64(n)
	if errors.Is(err, io.EOF) {
		err = errCut
	}
	return n, err
}

func (p *parser) quoted() ([]byte, error) {
	if err := p.expect('"'); err != nil {
		return nil, err
	}
	var b []byte
	for {
		c, err := p.byte()
		switch {
		case err != nil:
			return nil, err
		case c == '"':
			return b, nil
		case c == '\r' || c == '\n':
			return nil, errGrammar
		case c == '\\':
			if c, err = p.byte(); err != nil {
				return nil, err
			}
		}
		if b = append(b, c); len(b) > maxString {
			return nil, errGrammar
		}
	}
}

// bytes reads a string of which the beginning is kept.
func (p *parser) bytes(limit int64) ([]byte, error) {
	r, err := p.open()
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(r, limit))
	if err == nil {
		_, err = io.Copy(io.Discard, r)
	}
	return b, err
}

// next reads one answer of the server into a. It reports the tag that the answer has; "*" and "+"
// are none.
func (p *parser) next(a *answer, got func(*fetched) error) (tag string, err error) {
	if tag, err = p.word(); err != nil {
		return "", err
	}
	if tag == "" {
		return "", errGrammar
	}
	if tag == "+" {
		p.skip(' ')
		a.text, err = p.line()
		return tag, err
	}
	if err := p.expect(' '); err != nil {
		return "", err
	}
	if tag != "*" {
		line, err := p.line()
		if err != nil {
			return "", err
		}
		return tag, a.conclude(line)
	}
	return tag, p.untagged(a, got)
}

// conclude reads a status with its code.
func (a *answer) conclude(line string) error {
	a.status, line, _ = strings.Cut(line, " ")
	a.status = strings.ToUpper(a.status)
	if a.status != "OK" && a.status != "NO" && a.status != "BAD" && a.status != "BYE" && a.status != "PREAUTH" {
		return errGrammar
	}
	a.code, a.args, a.text = "", "", line
	if inner, text, ok := strings.Cut(strings.TrimPrefix(line, "["), "]"); ok && strings.HasPrefix(line, "[") {
		a.code, a.args, _ = strings.Cut(inner, " ")
		a.code, a.text = strings.ToUpper(a.code), strings.TrimSpace(text)
	}
	return nil
}

func (p *parser) untagged(a *answer, got func(*fetched) error) error {
	name, err := p.word()
	if err != nil {
		return err
	}
	if n, err := strconv.ParseUint(name, 10, 32); err == nil {
		if err := p.expect(' '); err != nil {
			return err
		}
		if name, err = p.word(); err != nil {
			return err
		}
		switch strings.ToUpper(name) {
		case "EXISTS":
			a.exists = int64(n)
		case "FETCH":
			return p.fetch(a, got)
		}
		return p.rest()
	}
	switch name = strings.ToUpper(name); name {
	case "OK", "NO", "BAD", "BYE", "PREAUTH":
		p.skip(' ')
		line, err := p.line()
		if err != nil {
			return err
		}
		return a.note(name, line)
	case "CAPABILITY":
		line, err := p.line()
		a.caps = strings.Fields(strings.ToUpper(line))
		return err
	case "SEARCH":
		for p.skip(' ') {
			if c, err := p.peek(); err != nil || c == '(' || c == '\r' {
				break // (MODSEQ n) follows
			}
			uid, err := p.uid()
			if err != nil {
				return err
			}
			if a.found = a.found.add(uid, uid); len(a.found) > maxSpans {
				return errGrammar
			}
		}
	case "ESEARCH":
		err = p.esearch(a)
	case "VANISHED":
		p.skip(' ')
		if c, err := p.peek(); err == nil && c == '(' {
			if _, err := p.value(1); err != nil {
				return err
			}
			p.skip(' ')
			set, err := p.set()
			if err != nil {
				return err
			}
			a.vanished = a.vanished.with(set)
		}
	case "LIST":
		err = p.list(a)
	case "STATUS":
		err = p.boxStatus(a)
	}
	if err != nil {
		return err
	}
	return p.rest()
}

// note keeps what a status without a tag says.
func (a *answer) note(status, line string) error {
	var n answer
	if err := n.conclude(status + " " + line); err != nil {
		return err
	}
	number, _ := strconv.ParseUint(n.args, 10, 64)
	switch {
	case status == "BYE":
		a.bye = &n
	case n.code == "UIDVALIDITY" && number <= 1<<32-1:
		a.validity = uint32(number)
	case n.code == "UIDNEXT" && number <= 1<<32-1:
		a.uidNext = uint32(number)
	case n.code == "HIGHESTMODSEQ":
		a.modseq = number
	case n.code == "MAILBOXID":
		a.id = strings.Trim(n.args, "()")
	case n.code == "CAPABILITY":
		a.caps = strings.Fields(strings.ToUpper(n.args))
	}
	return nil
}

func (p *parser) esearch(a *answer) error {
	for p.skip(' ') {
		if c, err := p.peek(); err != nil {
			return err
		} else if c == '(' {
			if _, err := p.value(2); err != nil {
				return err
			}
			continue
		}
		name, err := p.word()
		if err != nil {
			return err
		}
		switch strings.ToUpper(name) {
		case "UID":
		case "ALL":
			if err := p.expect(' '); err != nil {
				return err
			}
			set, err := p.set()
			if err != nil {
				return err
			}
			a.found = a.found.with(set)
		default: // a return value that was not asked for
			p.skip(' ')
			if _, err := p.value(2); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *parser) list(a *answer) error {
	var parts [3]any
	for i := range parts {
		if err := p.expect(' '); err != nil {
			return err
		}
		var err error
		if parts[i], err = p.value(2); err != nil {
			return err
		}
	}
	l := listed{flags: words(parts[0])}
	l.delimiter, _ = parts[1].(string)
	name, ok := parts[2].(string)
	if !ok || len(a.folders) >= maxList {
		return errGrammar
	}
	l.raw = name
	a.folders = append(a.folders, l)
	return nil
}

func (p *parser) boxStatus(a *answer) error {
	if err := p.expect(' '); err != nil {
		return err
	}
	name, err := p.value(0)
	if err != nil {
		return err
	}
	if err := p.expect(' '); err != nil {
		return err
	}
	list, err := p.value(2)
	if err != nil {
		return err
	}
	pairs, box := words(list), boxStatus{}
	for i := 0; i+1 < len(pairs); i += 2 {
		n, err := strconv.ParseUint(pairs[i+1], 10, 64)
		if err != nil {
			return errGrammar
		}
		switch strings.ToUpper(pairs[i]) {
		case "MESSAGES":
			box.messages = int64(n)
		case "UIDNEXT":
			box.uidNext = uint32(n)
		case "UIDVALIDITY":
			box.validity = uint32(n)
		case "HIGHESTMODSEQ":
			box.modseq = n
		}
	}
	text, ok := name.(string)
	if !ok {
		return errGrammar
	}
	if a.status2 == nil {
		a.status2 = map[string]boxStatus{}
	}
	a.status2[text] = box
	return nil
}

// words are the texts of a list.
func words(v any) []string {
	list, _ := v.([]any)
	out := make([]string, 0, len(list))
	for _, w := range list {
		if text, ok := w.(string); ok {
			out = append(out, text)
		}
	}
	return out
}

// fetch reads what is said of one message. A body passes through on the way.
func (p *parser) fetch(a *answer, got func(*fetched) error) error {
	m := &fetched{}
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
