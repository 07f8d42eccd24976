package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// CompileSchemas compiles the record schema of every stream, by stream name.
func (m *Manifest) CompileSchemas() (map[string]*jsonschema.Schema, error) {
	compiled := make(map[string]*jsonschema.Schema, len(m.Streams))
	for _, s := range m.Streams {
		schema, err := s.CompileSchema()
		if err != nil {
			return nil, err
		}
		compiled[s.Name] = schema
	}
	return compiled, nil
}

// CompileSchema compiles the schema of the stream's records.
func (s *Stream) CompileSchema() (*jsonschema.Schema, error) {
	schema, err := compileSchema(s.Schema)
	if err != nil {
		return nil, fmt.Errorf("compile schema of stream %s: %w", s.Name, err)
	}
	return schema, nil
}

// SchemaPath returns the location in the schema of the first violated rule, from the error of a validation. It
// does not use the record's path, because keys can be content too.
func SchemaPath(err error) string {
	var e *jsonschema.ValidationError
	if !errors.As(err, &e) {
		return "schema"
	}
	for len(e.Causes) > 0 {
		e = e.Causes[0]
	}
	_, pointer, _ := strings.Cut(e.SchemaURL, "#")
	return pointer + "/" + strings.Join(e.ErrorKind.KeywordPath(), "/")
}

// recordSchemaURL is absolute because a relative one would be resolved against
// the working directory.
const recordSchemaURL = "https://record-schema.invalid/"

func compileSchema(raw json.RawMessage) (*jsonschema.Schema, error) {
	if err := refuseExtremeNumbers(raw); err != nil {
		return nil, err
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(refuseToLoad{})
	if err := compiler.AddResource(recordSchemaURL, document); err != nil {
		return nil, err
	}
	return compiler.Compile(recordSchemaURL)
}

// refuseToLoad keeps compilation free of I/O: a manifest is untrusted input, and a $ref in it must not read files
// or use the network.
type refuseToLoad struct{}

var errExternalSchema = errors.New("a record schema may not refer to another document")

func (refuseToLoad) Load(string) (any, error) { return nil, errExternalSchema }

var errExtremeNumber = errors.New("a record schema may not hold a number with an exponent of more than three digits")

// refuseExtremeNumbers protects the compiler, which uses exact fractions and panics on numbers such as
// 1e999999999.
func refuseExtremeNumbers(raw json.RawMessage) error {
	dec := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true))
	for {
		token, err := dec.ReadToken()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if token.Kind() != '0' {
			continue
		}
		text := token.String()
		if e := strings.IndexAny(text, "eE"); e >= 0 && len(strings.TrimLeft(text[e+1:], "+-0")) > 3 {
			return errExtremeNumber
		}
	}
}

// schemaOutline is the part of a record schema that the manifest's rules refer to.
type schemaOutline struct {
	kind       any
	properties map[string]json.RawMessage
	required   []string
}

// readOutline parses the keywords one by one, because decoding into tagged fields would accept Type for type.
func readOutline(schema json.RawMessage) (schemaOutline, error) {
	var keywords map[string]json.RawMessage
	if err := json.Unmarshal(schema, &keywords); err != nil {
		return schemaOutline{}, err
	}
	var o schemaOutline
	for keyword, into := range map[string]any{"type": &o.kind, "properties": &o.properties, "required": &o.required} {
		if value, ok := keywords[keyword]; ok {
			if err := json.Unmarshal(value, into); err != nil {
				return schemaOutline{}, err
			}
		}
	}
	return o, nil
}
