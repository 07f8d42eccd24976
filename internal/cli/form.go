package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"pdpp/protocol"
)

// field is one thing to ask for.
type field struct {
	name     string
	title    string
	kind     string // string, boolean, integer or number
	choices  []string
	required bool
	secret   bool
}

// property is what a form reads of a member's JSON Schema.
type property struct {
	Type      jsontext.Value `json:"type"`
	Title     string         `json:"title"`
	Format    string         `json:"format"`
	WriteOnly *bool          `json:"writeOnly"`
	Enum      []any          `json:"enum"`
}

// formOf reads the fields of a question in the order of its schema. A question
// for secrets that marks none of its fields has only secret ones.
func formOf(q protocol.Interaction) ([]field, error) {
	fields, marked, err := schemaFields(q.Schema)
	if err != nil {
		return nil, err
	}
	if len(fields) == 0 && q.Kind != protocol.AskManualAction {
		name := "value"
		if q.Kind == protocol.AskOTP {
			name = "code"
		}
		fields = []field{{name: name, title: name, kind: "string", required: true}}
	}
	if q.Kind.Secret() && !marked {
		for i := range fields {
			fields[i].secret = true
		}
	}
	return fields, nil
}

var errForm = errors.New("the question's form is not readable")

// schemaFields reads the properties of a form. Marked is true when the schema
// says of any of them whether it is secret.
func schemaFields(schema jsontext.Value) (fields []field, marked bool, err error) {
	if len(schema) == 0 {
		return nil, false, nil
	}
	var outline struct {
		Required []string `json:"required"`
	}
	if json.Unmarshal(schema, &outline) != nil {
		return nil, false, errForm
	}
	err = eachProperty(schema, func(name string, value jsontext.Value) error {
		f := field{name: name, title: name, kind: "string", required: slices.Contains(outline.Required, name)}
		var p property
		if json.Unmarshal(value, &p) != nil {
			return errForm
		}
		f.read(p)
		marked = marked || f.secret || p.WriteOnly != nil
		fields = append(fields, f)
		return nil
	})
	if err != nil {
		return nil, false, errForm
	}
	return fields, marked, nil
}

func (f *field) read(p property) {
	if p.Title != "" {
		f.title = p.Title
	}
	f.secret = p.Format == "password" || p.WriteOnly != nil && *p.WriteOnly
	for _, kind := range []string{"boolean", "integer", "number"} {
		if strings.Contains(string(p.Type), `"`+kind+`"`) {
			f.kind = kind
			break
		}
	}
	for _, c := range p.Enum {
		f.choices = append(f.choices, fmt.Sprint(c))
	}
}

var errNeeded = errors.New("an answer is needed")

// value turns what was typed into JSON; ok is false for an optional field left empty.
func (f field) value(text string) (v any, ok bool, err error) {
	if text == "" {
		if f.required {
			return nil, false, errNeeded
		}
		return nil, false, nil
	}
	if len(f.choices) > 0 && !slices.Contains(f.choices, text) {
		return nil, false, errors.New("choose one of: " + strings.Join(f.choices, ", "))
	}
	switch f.kind {
	case "boolean":
		switch strings.ToLower(text) {
		case "y", "yes", "true":
			return true, true, nil
		case "n", "no", "false":
			return false, true, nil
		}
		return nil, false, errors.New("answer yes or no")
	case "integer":
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, false, errors.New("a whole number is needed")
		}
		return n, true, nil
	case "number":
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, false, errors.New("a number is needed")
		}
		return n, true, nil
	default:
		return text, true, nil
	}
}
