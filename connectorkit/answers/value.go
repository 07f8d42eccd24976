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

// valueKinds is a set of kinds that a value can have.
type valueKinds uint8

const (
	objectKind valueKinds = 1 << iota
	listKind
	textKind
	numberKind
	flagKind
	nullKind
)

var kindNames = []string{"object", "list", "text", "number", "flag", "null"}

func (k valueKinds) String() string {
	var out []string
	for i, name := range kindNames {
		if k&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return strings.Join(out, "|")
}

// answerValue is one value of an answer without its content.
type answerValue struct {
	kind    valueKinds
	members []valueMember // of an object, in the order of the answer
	parts   []answerValue // of a list: the first elements
	length  int           // of a list: all of its elements
	cut     bool          // members or parts are left out
	table   bool          // members are the columns of a table
	typed   string        // of the whole answer: what its member "type" has, if that is the name of a kind
}

type valueMember struct {
	name  string
	value answerValue
}

const (
	// maxValues bounds the values of one answer that are looked at.
	maxValues = 4000
	// maxListElements bounds the elements of one list that are looked at.
	maxListElements = 20
	// maxNestingDepth bounds how deep objects are looked into.
	maxNestingDepth = 12
)

// readShape returns the shape of an answer. False means that the answer is neither JSON, XML nor a
// calendar.
func readShape(contentType string, body []byte) (answerValue, bool) {
	body = bytes.TrimSpace(body)
	switch {
	case len(body) == 0:
		return answerValue{}, false
	case body[0] == '{' || body[0] == '[':
		v, err := readJSONShape(body)
		return v, err == nil
	case body[0] == '<' && strings.Contains(contentType, "xml"):
		return readXMLShape(body, xmlForm{})
	case bytes.HasPrefix(body, []byte("BEGIN:V")):
		return readContentLines(body), true
	}
	return answerValue{}, false
}

// readJSONShape returns the shape of a document, as far as it goes before an error.
func readJSONShape(body []byte) (answerValue, error) {
	r := &jsonReader{left: maxValues}
	r.dec = jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	v, err := r.readValue(0)
	v.typed = r.typed
	return v, err
}

type jsonReader struct {
	dec   *jsontext.Decoder
	left  int
	typed string
}

func (r *jsonReader) readValue(depth int) (answerValue, error) {
	r.left--
	v := answerValue{}
	switch kind := r.dec.PeekKind(); kind {
	case '{':
		v.kind = objectKind
		return v, r.readObject(&v, depth)
	case '[':
		v.kind = listKind
		return v, r.readList(&v, depth)
	case '"':
		v.kind = textKind
	case '0':
		v.kind = numberKind
	case 't', 'f':
		v.kind = flagKind
	default:
		v.kind = nullKind
	}
	return v, r.dec.SkipValue()
}

func (r *jsonReader) readObject(v *answerValue, depth int) error {
	if r.left <= 0 || depth >= maxNestingDepth {
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
		m := valueMember{name: name.String()}
		if depth == 0 && m.name == "type" && r.dec.PeekKind() == '"' {
			err = r.readOwnKind(&m.value)
		} else {
			m.value, err = r.readValue(depth + 1)
		}
		if v.members = append(v.members, m); err != nil {
			v.cut = true
			return err
		}
	}
	_, err := r.dec.ReadToken()
	return err
}

// readOwnKind reads the text by which a document names its own kind.
func (r *jsonReader) readOwnKind(v *answerValue) error {
	v.kind = textKind
	t, err := r.dec.ReadToken()
	if name := t.String(); err == nil && protocol.PlainMember(name) {
		r.typed = name
	}
	return err
}

func (r *jsonReader) readList(v *answerValue, depth int) error {
	if _, err := r.dec.ReadToken(); err != nil {
		return err
	}
	for r.dec.PeekKind() != ']' {
		v.length++
		if v.length > maxListElements || r.left <= 0 || depth >= maxNestingDepth {
			v.cut = true
			if err := r.dec.SkipValue(); err != nil {
				return err
			}
			continue
		}
		part, err := r.readValue(depth + 1)
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

// readXMLShape takes elements as members. Servers choose their own prefixes, so that a name counts
// without one.
func readXMLShape(body []byte, form xmlForm) (answerValue, bool) {
	dec := xml.NewDecoder(bytes.NewReader(body))
	root := answerValue{kind: objectKind}
	open := []*answerValue{&root}
	names := []string{""}
	left := maxValues
	for {
		t, err := dec.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && form.cut && len(open) > 1 {
			return closeTruncated(open, names), true
		}
		if err != nil {
			return answerValue{}, false
		}
		switch t := t.(type) {
		case xml.StartElement:
			if left--; left <= 0 || len(open) > maxNestingDepth {
				return closeTruncated(open, names), len(root.members) > 0 || len(open) > 1
			}
			at := &answerValue{kind: nullKind}
			for _, a := range t.Attr {
				if form.attributes && a.Name.Space != "xmlns" && a.Name.Local != "xmlns" {
					at.kind = objectKind
					at.members = append(at.members, valueMember{a.Name.Local, answerValue{kind: textKind}})
				}
			}
			open, names = append(open, at), append(names, t.Name.Local)
		case xml.EndElement:
			if len(open) < 2 {
				return answerValue{}, false
			}
			open, names = closeInnermost(open, names)
		case xml.CharData:
			if at := open[len(open)-1]; at.kind == nullKind && len(bytes.TrimSpace(t)) > 0 {
				at.kind = textKind
			}
		}
	}
	return closeTruncated(open, names), true
}

// closeInnermost puts the innermost open value into the one around it.
func closeInnermost(open []*answerValue, names []string) ([]*answerValue, []string) {
	last := len(open) - 1
	outer := open[last-1]
	outer.kind = objectKind
	outer.members = append(outer.members, valueMember{names[last], *open[last]})
	return open[:last], names[:last]
}

// closeTruncated ends what is still open, as cut short, and returns the whole.
func closeTruncated(open []*answerValue, names []string) answerValue {
	for len(open) > 1 {
		open[len(open)-1].cut = true
		open, names = closeInnermost(open, names)
		open[len(open)-1].cut = true
	}
	return *open[0]
}

// readContentLines reads content lines, as of calendars and cards: components are objects, properties
// are texts.
func readContentLines(body []byte) answerValue {
	root := answerValue{kind: objectKind}
	open := []*answerValue{&root}
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
		case name == "BEGIN" && len(open) <= maxNestingDepth:
			open, names = append(open, &answerValue{kind: objectKind}), append(names, strings.ToUpper(rest))
		case name == "END" && len(open) > 1:
			open, names = closeInnermost(open, names)
		default:
			at := open[len(open)-1]
			at.members = append(at.members, valueMember{name, answerValue{kind: textKind}})
		}
	}
	return closeTruncated(open, names)
}
