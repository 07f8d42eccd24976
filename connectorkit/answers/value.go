package answers

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/protocol"
)

// kinds is a set of kinds that a value can have.
type kinds uint8

const (
	object kinds = 1 << iota
	list
	text
	number
	flag
	null
)

var kindNames = []string{"object", "list", "text", "number", "flag", "null"}

func (k kinds) String() string {
	var out []string
	for i, name := range kindNames {
		if k&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return strings.Join(out, "|")
}

// value is one value of an answer without its content.
type value struct {
	kind    kinds
	members []member // of an object, in the order of the answer
	parts   []value  // of a list: the first elements
	length  int      // of a list: all of its elements
	cut     bool     // members or parts are left out
	table   bool     // members are the columns of a table
	typed   string   // of the whole answer: what its member "type" has, if that is the name of a kind
}

type member struct {
	name  string
	value value
}

const (
	// maxValues bounds the values of one answer that are looked at.
	maxValues = 4000
	// maxParts bounds the elements of one list that are looked at.
	maxParts = 20
	// maxDepth bounds how deep objects are looked into.
	maxDepth = 12
)

// read returns the shape of an answer. False means that the answer is neither JSON, XML nor a
// calendar.
func read(contentType string, body []byte) (value, bool) {
	body = bytes.TrimSpace(body)
	switch {
	case len(body) == 0:
		return value{}, false
	case body[0] == '{' || body[0] == '[':
		v, err := readJSON(body)
		return v, err == nil
	case body[0] == '<' && strings.Contains(contentType, "xml"):
		return readXML(body, xmlForm{})
	case bytes.HasPrefix(body, []byte("BEGIN:V")):
		return readLines(body), true
	}
	return value{}, false
}

// readJSON returns the shape of a document, as far as it goes before an error.
func readJSON(body []byte) (value, error) {
	r := &jsonReader{left: maxValues}
	r.dec = jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	v, err := r.value(0)
	v.typed = r.typed
	return v, err
}

type jsonReader struct {
	dec   *jsontext.Decoder
	left  int
	typed string
}

func (r *jsonReader) value(depth int) (value, error) {
	r.left--
	v := value{}
	switch kind := r.dec.PeekKind(); kind {
	case '{':
		v.kind = object
		return v, r.object(&v, depth)
	case '[':
		v.kind = list
		return v, r.list(&v, depth)
	case '"':
		v.kind = text
	case '0':
		v.kind = number
	case 't', 'f':
		v.kind = flag
	default:
		v.kind = null
	}
	return v, r.dec.SkipValue()
}

func (r *jsonReader) object(v *value, depth int) error {
	if r.left <= 0 || depth >= maxDepth {
		v.cut = true
		return r.dec.SkipValue()
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return err
	}
	for r.dec.PeekKind() != '}' {
		name, err := r.dec.ReadToken()
		if err != nil {
			return err
		}
		m := member{name: name.String()}
		if depth == 0 && m.name == "type" && r.dec.PeekKind() == '"' {
			err = r.kind(&m.value)
		} else {
			m.value, err = r.value(depth + 1)
		}
		if v.members = append(v.members, m); err != nil {
			v.cut = true
			return err
		}
	}
	_, err := r.dec.ReadToken()
	return err
}

// kind reads the text by which a document names its own kind.
func (r *jsonReader) kind(v *value) error {
	v.kind = text
	t, err := r.dec.ReadToken()
	if name := t.String(); err == nil && protocol.PlainMember(name) {
		r.typed = name
	}
	return err
}

func (r *jsonReader) list(v *value, depth int) error {
	if _, err := r.dec.ReadToken(); err != nil {
		return err
	}
	for r.dec.PeekKind() != ']' {
		v.length++
		if v.length > maxParts || r.left <= 0 || depth >= maxDepth {
			v.cut = true
			if err := r.dec.SkipValue(); err != nil {
				return err
			}
			continue
		}
		part, err := r.value(depth + 1)
		if v.parts = append(v.parts, part); err != nil {
			v.cut = true
			return err
		}
	}
	_, err := r.dec.ReadToken()
	return err
}

// xmlForm is how XML is read: with attributes as members, and up to where it was cut off.
type xmlForm struct{ attributes, cut bool }

// readXML takes elements as members. Servers choose their own prefixes, so that a name counts
// without one.
func readXML(body []byte, form xmlForm) (value, bool) {
	dec := xml.NewDecoder(bytes.NewReader(body))
	root := value{kind: object}
	open := []*value{&root}
	names := []string{""}
	left := maxValues
	for {
		t, err := dec.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && form.cut && len(open) > 1 {
			return closed(open, names), true
		}
		if err != nil {
			return value{}, false
		}
		switch t := t.(type) {
		case xml.StartElement:
			if left--; left <= 0 || len(open) > maxDepth {
				return closed(open, names), len(root.members) > 0 || len(open) > 1
			}
			at := &value{kind: null}
			for _, a := range t.Attr {
				if form.attributes && a.Name.Space != "xmlns" && a.Name.Local != "xmlns" {
					at.kind = object
					at.members = append(at.members, member{a.Name.Local, value{kind: text}})
				}
			}
			open, names = append(open, at), append(names, t.Name.Local)
		case xml.EndElement:
			if len(open) < 2 {
				return value{}, false
			}
			open, names = fold(open, names)
		case xml.CharData:
			if at := open[len(open)-1]; at.kind == null && len(bytes.TrimSpace(t)) > 0 {
				at.kind = text
			}
		}
	}
	return closed(open, names), true
}

// fold puts the innermost open value into the one around it.
func fold(open []*value, names []string) ([]*value, []string) {
	last := len(open) - 1
	outer := open[last-1]
	outer.kind = object
	outer.members = append(outer.members, member{names[last], *open[last]})
	return open[:last], names[:last]
}

// closed ends what is still open, as cut short, and returns the whole.
func closed(open []*value, names []string) value {
	for len(open) > 1 {
		open[len(open)-1].cut = true
		open, names = fold(open, names)
		open[len(open)-1].cut = true
	}
	return *open[0]
}

// readLines reads content lines, as of calendars and cards: components are objects, properties
// are texts.
func readLines(body []byte) value {
	root := value{kind: object}
	open := []*value{&root}
	names := []string{""}
	left := maxValues
	for line := range bytes.Lines(body) {
		if line[0] == ' ' || line[0] == '\t' {
			continue // the line before goes on
		}
		end := bytes.IndexAny(line, ":;")
		if end <= 0 {
			continue
		}
		if left--; left <= 0 {
			break
		}
		name := strings.ToUpper(string(line[:end]))
		switch rest := string(bytes.TrimSpace(line[end+1:])); {
		case name == "BEGIN" && len(open) <= maxDepth:
			open, names = append(open, &value{kind: object}), append(names, strings.ToUpper(rest))
		case name == "END" && len(open) > 1:
			open, names = fold(open, names)
		default:
			at := open[len(open)-1]
			at.members = append(at.members, member{name, value{kind: text}})
		}
	}
	return closed(open, names)
}
