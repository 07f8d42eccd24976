package answers

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/protocol"
)

// FileMethod is the method of routes that are no requests: what is read of a store of files. The path is
// the store's name, and behind it the "type" of the document or line where those have one.
const FileMethod = "FILE"

// Content is something that was read of a store: a document, a line, the beginning of a large file.
type Content struct {
	Name string // of the file; its ending selects the form. A line has none.
	Body []byte
	// Whole means that Body is all of it.
	Whole bool
}

// HasStore reports whether there is anything to compare content of a store with. A nil Comparison
// knows nothing.
func (c *Comparison) HasStore(store string) bool {
	return c != nil && (c.learned != nil || c.sheet().hasStore(store))
}

// IsLearning reports whether content is added to a sheet instead of compared, all of it.
func (c *Comparison) IsLearning() bool { return c.learned != nil }

// Content compares something that was read of a store.
func (c *Comparison) Content(stream, store string, content Content) {
	v, ok := readContent(content)
	if !ok {
		return
	}
	at := store
	if v.typed != "" {
		at += "/" + v.typed
	}
	if c.learned != nil {
		r := c.learned.routeFor(FileMethod, at)
		r.answers++
		r.root.learnValue(&v)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.streamPart(stream)
	p.answers++
	r := c.sheet().findRoute(FileMethod, at)
	if r == nil { // the value of a type is content, and is not shown
		w := answerWalker{p: p, route: FileMethod + " " + store}
		w.noteDifference(difference{kind: protocol.NewMember, route: w.route, member: "type/" + protocol.HiddenMember})
		return
	}
	if v.table && !slices.ContainsFunc(v.members, func(m valueMember) bool { return r.root.members[m.name] != nil }) {
		return // its columns have no headings, or those of another language
	}
	w := c.newAnswerWalker(p, r)
	w.compareValue(&r.root, &v, "")
}

// Element compares one element of a list in a document of a store. The list is a member of the
// document, or the document itself if the name is empty.
func (c *Comparison) Element(stream, store, list string, element []byte) {
	v, ok := readContent(Content{Body: element, Whole: true})
	if !ok {
		return
	}
	if c.learned != nil {
		r := c.learned.routeFor(FileMethod, store)
		r.answers++
		n := &r.root
		if list != "" {
			n = n.memberNode(list)
		}
		n.memberNode(elementsMember).learnValue(&v)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r, n := c.sheet().elementRoute(store, list)
	if n == nil {
		return
	}
	at := elementsMember
	if list != "" {
		at = joinPath(list, elementsMember)
	}
	p := c.streamPart(stream)
	p.answers++
	w := c.newAnswerWalker(p, r)
	w.compareValue(n, &v, at)
}

// elementRoute returns what is known of the elements of a list, and the route of its document.
func (s *Sheet) elementRoute(store, list string) (*sheetRoute, *sheetNode) {
	for _, r := range s.routes {
		n := &r.root
		if list != "" {
			n = n.members[list]
		}
		if r.method == FileMethod && r.segments[0] == store && n != nil && n.members[elementsMember] != nil {
			return r, n.members[elementsMember]
		}
	}
	return nil, nil
}

// Names compares an answer in a protocol of lines by the names of what it consists of, as in "EXISTS" or
// "FETCH/UID". The method is that of the protocol, the route the name of the command.
func (c *Comparison) Names(stream, method, route string, names []string) {
	r := c.sheet().findRoute(method, route)
	if r == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	w, chosen := c.sampleAnswer(stream, r)
	if !chosen {
		return
	}
	v := answerValue{kind: objectKind}
	for _, name := range names {
		outer, inner, nested := strings.Cut(name, "/")
		at := slices.IndexFunc(v.members, func(m valueMember) bool { return m.name == outer })
		if at < 0 {
			at = len(v.members)
			v.members = append(v.members, valueMember{outer, answerValue{kind: nullKind}})
		}
		if nested {
			in := &v.members[at].value
			in.kind, in.members = objectKind, append(in.members, valueMember{inner, answerValue{kind: nullKind}})
		}
	}
	w.p.answers++
	w.compareValue(&r.root, &v, "")
}

// NewLearning returns a comparison that compares nothing and adds what is read to a sheet.
func NewLearning(into *Sheet) *Comparison {
	return &Comparison{streams: map[string]*streamComparison{}, sheet: func() *Sheet { return into }, learned: into}
}

// hasStore reports whether the sheet has a route of a store.
func (s *Sheet) hasStore(store string) bool {
	for _, r := range s.routes {
		if r.method == FileMethod && r.segments[0] == store {
			return true
		}
	}
	return false
}

// readContent returns the shape of content. A script that holds a document begins with it after the
// first bracket.
func readContent(c Content) (answerValue, bool) {
	switch strings.ToLower(path.Ext(c.Name)) {
	case ".csv":
		return readTableShape(c.Body)
	case ".xml":
		return readXMLShape(firstElement(c.Body), xmlForm{attributes: true, cut: !c.Whole})
	case ".json", ".js", ".jsonl", "":
	default:
		return answerValue{}, false
	}
	at := strings.IndexAny(string(c.Body[:min(len(c.Body), 512)]), "[{")
	if at < 0 {
		return answerValue{}, false
	}
	v, err := readJSONShape(c.Body[at:])
	return v, err == nil || !c.Whole && len(v.members)+len(v.parts) > 0
}

// firstElement returns a document without what precedes its first element. The declaration of types is
// malformed in documents of some programs.
func firstElement(document []byte) []byte {
	if begin := bytes.Index(document, []byte("<!DOCTYPE")); begin >= 0 {
		if end := bytes.Index(document[begin:], []byte("]>")); end >= 0 {
			return document[begin+end+len("]>"):]
		}
	}
	return document
}

// readTableShape takes the columns of a table as members.
func readTableShape(body []byte) (answerValue, bool) {
	line, _, _ := strings.Cut(string(body), "\n")
	v := answerValue{kind: objectKind, table: true}
	for cell := range strings.SplitSeq(strings.TrimRight(line, "\r"), ",") {
		v.members = append(v.members, valueMember{columnName(cell), answerValue{kind: textKind}})
	}
	return v, len(v.members) > 1
}

// columnName writes a heading as the name of a member.
func columnName(cell string) string {
	return strings.Map(func(r rune) rune {
		if r > 0x7f || strings.ContainsRune("_.$-", r) || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' {
			return r
		}
		return '_'
	}, strings.ToLower(strings.Trim(cell, "\" \t\ufeff")))
}
