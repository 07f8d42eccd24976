package imap

import (
	"slices"
	"strconv"
	"strings"
)

// What a server may make us keep of one answer.
const (
	maxLineBytes   = 64 << 10  // of a line of text
	maxStringBytes = 1 << 20   // of one string but for a body
	maxHeaderBytes = 256 << 10 // of a message's head
	maxListMembers = 1 << 16   // members of a list
	maxNestedLists = 32
	maxUIDSpans    = 1 << 20
)

// serverAnswer is the server's answer to one command.
type serverAnswer struct {
	status string // OK, NO or BAD
	code   string // in brackets: its name, in capitals
	args   string // and what follows it
	text   string

	exists   int64
	validity uint32
	uidNext  uint32
	modseq   uint64
	found    uidSet // by SEARCH
	vanished uidSet
	changed  uidSet // unsolicited
	folders  []listedFolder
	status2  map[string]folderStatus
	id       string // of the folder that was opened, whatever its name is; empty where the server has none
	caps     []string
	bye      *serverAnswer
	names    []string // of the responses in it, and of their parts
}

// listedFolder is one line of LIST.
type listedFolder struct {
	flags     []string
	delimiter string
	raw       string // as commands have it
}

// folderStatus is the answer of STATUS for a folder.
type folderStatus struct {
	messages int64
	uidNext  uint32
	validity uint32
	modseq   uint64
}

// readResponse reads one server response into a. It returns the response's tag, which is empty for "*" and "+".
func (p *responseParser) readResponse(a *serverAnswer, got func(*fetchedMessage) error) (tag string, err error) {
	if tag, err = p.readWord(); err != nil {
		return "", err
	}
	if tag == "" {
		return "", errGrammar
	}
	if tag == "+" {
		p.skipByte(' ')
		a.text, err = p.readRestOfLine()
		return tag, err
	}
	if err := p.expectByte(' '); err != nil {
		return "", err
	}
	if tag != "*" {
		line, err := p.readRestOfLine()
		if err != nil {
			return "", err
		}
		return tag, a.readTaggedStatus(line)
	}
	return tag, p.readUntagged(a, got)
}

// readTaggedStatus reads a status with its code.
func (a *serverAnswer) readTaggedStatus(line string) error {
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

func (p *responseParser) readUntagged(a *serverAnswer, got func(*fetchedMessage) error) error {
	name, err := p.readWord()
	if err != nil {
		return err
	}
	if n, err := strconv.ParseUint(name, 10, 32); err == nil {
		if err := p.expectByte(' '); err != nil {
			return err
		}
		if name, err = p.readWord(); err != nil {
			return err
		}
		name = strings.ToUpper(name)
		if name == "FETCH" && !slices.Contains(a.names, name) {
			p.first = a
		}
		a.noteResponseName(name)
		switch name {
		case "EXISTS":
			a.exists = int64(n)
		case "FETCH":
			return p.readFetch(a, got)
		}
		return p.skipRestOfAnswer()
	}
	name = strings.ToUpper(name)
	a.noteResponseName(name)
	switch name {
	case "OK", "NO", "BAD", "BYE", "PREAUTH":
		p.skipByte(' ')
		line, err := p.readRestOfLine()
		if err != nil {
			return err
		}
		return a.noteStatus(name, line)
	case "CAPABILITY":
		line, err := p.readRestOfLine()
		a.caps = strings.Fields(strings.ToUpper(line))
		return err
	case "SEARCH":
		for p.skipByte(' ') {
			if c, err := p.peekByte(); err != nil || c == '(' || c == '\r' {
				break // (MODSEQ n) follows
			}
			uid, err := p.readUID()
			if err != nil {
				return err
			}
			if a.found = a.found.withRange(uid, uid); len(a.found) > maxUIDSpans {
				return errGrammar
			}
		}
	case "ESEARCH":
		err = p.readESearch(a)
	case "VANISHED":
		p.skipByte(' ')
		if c, err := p.peekByte(); err == nil && c == '(' {
			if _, err := p.readValue(1); err != nil {
				return err
			}
			p.skipByte(' ')
			set, err := p.readUIDSet()
			if err != nil {
				return err
			}
			a.vanished = a.vanished.unionWith(set)
		}
	case "LIST":
		err = p.readListLine(a)
	case "STATUS":
		err = p.readFolderStatus(a)
	}
	if err != nil {
		return err
	}
	return p.skipRestOfAnswer()
}

// noteStatus stores the data of an untagged status line.
func (a *serverAnswer) noteStatus(status, line string) error {
	var n serverAnswer
	if err := n.readTaggedStatus(status + " " + line); err != nil {
		return err
	}
	if n.code != "" {
		a.noteResponseName(status + "/" + n.code)
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

func (p *responseParser) readESearch(a *serverAnswer) error {
	for p.skipByte(' ') {
		if c, err := p.peekByte(); err != nil {
			return err
		} else if c == '(' {
			if _, err := p.readValue(2); err != nil {
				return err
			}
			continue
		}
		name, err := p.readWord()
		if err != nil {
			return err
		}
		switch strings.ToUpper(name) {
		case "UID":
		case "ALL":
			if err := p.expectByte(' '); err != nil {
				return err
			}
			set, err := p.readUIDSet()
			if err != nil {
				return err
			}
			a.found = a.found.unionWith(set)
		default: // a return value that was not asked for
			p.skipByte(' ')
			if _, err := p.readValue(2); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *responseParser) readListLine(a *serverAnswer) error {
	var parts [3]any
	for i := range parts {
		if err := p.expectByte(' '); err != nil {
			return err
		}
		var err error
		if parts[i], err = p.readValue(2); err != nil {
			return err
		}
	}
	l := listedFolder{flags: listTexts(parts[0])}
	l.delimiter, _ = parts[1].(string)
	name, ok := parts[2].(string)
	if !ok || len(a.folders) >= maxListMembers {
		return errGrammar
	}
	l.raw = name
	a.folders = append(a.folders, l)
	return nil
}

// readUnquotedName reads on the name of a folder with spaces that the server did not quote, as GNU imap4d does not,
// up to the list behind it.
func (p *responseParser) readUnquotedName(name string) (string, error) {
	for {
		c, err := p.peekByte()
		if err != nil || c == '(' {
			return name, err
		}
		if name += " "; c == ' ' {
			p.skipByte(' ')
			continue
		}
		word, err := p.readWord()
		if err != nil {
			return "", err
		}
		if name += word; word == "" || len(name) > maxFolderName {
			return "", errGrammar
		}
		if err := p.expectByte(' '); err != nil {
			return "", err
		}
	}
}

// maxFolderName bounds such a name.
const maxFolderName = 1000

func (p *responseParser) readFolderStatus(a *serverAnswer) error {
	if err := p.expectByte(' '); err != nil {
		return err
	}
	name, err := p.readValue(0)
	if err != nil {
		return err
	}
	if err := p.expectByte(' '); err != nil {
		return err
	}
	if text, plain := name.(string); plain {
		if name, err = p.readUnquotedName(text); err != nil {
			return err
		}
	}
	list, err := p.readValue(2)
	if err != nil {
		return err
	}
	pairs, box := listTexts(list), folderStatus{}
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
		a.status2 = map[string]folderStatus{}
	}
	a.status2[text] = box
	return nil
}
