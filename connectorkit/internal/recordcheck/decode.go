package recordcheck

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/protocol"
)

var (
	errNotObject     = errors.New("a record is a JSON object")
	errNestedTooDeep = errors.New("the record nests too deeply")
)

// RecordDecoder decodes records. It reuses its memory; not safe for concurrent use.
type RecordDecoder struct {
	dec *jsontext.Decoder
	buf bytes.Buffer
}

func NewRecordDecoder() *RecordDecoder {
	t := &RecordDecoder{}
	t.dec = jsontext.NewDecoder(&t.buf)
	return t
}

// DecodeRecord parses a JSON object into the values that a schema validates. Numbers keep their text. The depth is
// bounded by that of a protocol line.
func (t *RecordDecoder) DecodeRecord(raw jsontext.Value) (map[string]any, error) {
	t.buf = *bytes.NewBuffer(raw) // read in place
	t.dec.Reset(&t.buf)
	if t.dec.PeekKind() != '{' {
		return nil, errNotObject
	}
	v, err := decodeValue(t.dec, protocol.MaxDepth-1)
	if err != nil {
		return nil, err
	}
	if _, err := t.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errNotObject
	}
	return v.(map[string]any), nil
}

func decodeValue(dec *jsontext.Decoder, depth int) (any, error) {
	tok, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	if depth == 0 && (tok.Kind() == '{' || tok.Kind() == '[') {
		return nil, errNestedTooDeep
	}
	switch tok.Kind() {
	case '"':
		return tok.String(), nil
	case '0':
		return stdjson.Number(tok.String()), nil
	case 't', 'f':
		return tok.Bool(), nil
	case '{':
		return decodeObject(dec, depth-1)
	case '[':
		list := []any{}
		for dec.PeekKind() != ']' {
			v, err := decodeValue(dec, depth-1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := dec.ReadToken()
		return list, err
	default:
		return nil, nil
	}
}

func decodeObject(dec *jsontext.Decoder, depth int) (any, error) {
	object := map[string]any{}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String()
		if object[key], err = decodeValue(dec, depth); err != nil {
			return nil, err
		}
	}
	_, err := dec.ReadToken()
	return object, err
}
