package imap

import (
	"slices"
	"strconv"
	"strings"
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
	names    []string // of the responses in it, and of their parts
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
		name = strings.ToUpper(name)
		if name == "FETCH" && !slices.Contains(a.names, name) {
			p.first = a
		}
		a.saw(name)
		switch name {
		case "EXISTS":
			a.exists = int64(n)
		case "FETCH":
			return p.fetch(a, got)
		}
		return p.rest()
	}
	name = strings.ToUpper(name)
	a.saw(name)
	switch name {
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
	if n.code != "" {
		a.saw(status + "/" + n.code)
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

// unquoted reads on the name of a folder with spaces that the server did not quote, as GNU imap4d does not, up to the
// list behind it.
func (p *parser) unquoted(name string) (string, error) {
	for {
		c, err := p.peek()
		if err != nil || c == '(' {
			return name, err
		}
		if name += " "; c == ' ' {
			p.skip(' ')
			continue
		}
		word, err := p.word()
		if err != nil {
			return "", err
		}
		if name += word; word == "" || len(name) > maxName {
			return "", errGrammar
		}
		if err := p.expect(' '); err != nil {
			return "", err
		}
	}
}

// maxName bounds such a name.
const maxName = 1000

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
	if text, plain := name.(string); plain {
		if name, err = p.unquoted(text); err != nil {
			return err
		}
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
