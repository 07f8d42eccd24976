package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"pdpp/internal/ownerapi"
	"pdpp/protocol"
)

// property is what a form reads of a member's JSON Schema.
type property struct {
	Type      jsontext.Value `json:"type"`
	Title     string         `json:"title"`
	Format    string         `json:"format"`
	WriteOnly *bool          `json:"writeOnly"`
	Enum      []any          `json:"enum"`
}

// formOf reads the fields of a question that a run in the foreground asks, in the order
// of its schema. A question for secrets that marks none of its fields has only secret ones.
func formOf(q protocol.Interaction) ([]ownerapi.QuestionField, error) {
	fields, marked, err := schemaFields(q.Schema)
	if err != nil {
		return nil, err
	}
	if len(fields) == 0 && q.Kind != protocol.AskManualAction {
		name := "value"
		if q.Kind == protocol.AskOTP {
			name = "code"
		}
		fields = []ownerapi.QuestionField{{Name: name, Label: name, Type: "string", Required: true}}
	}
	if q.Kind.Secret() && !marked {
		for i := range fields {
			fields[i].Secret = true
		}
	}
	return fields, nil
}

var errForm = errors.New("the question's form is not readable")

// schemaFields reads the properties of a form. Marked is true when the schema
// says of any of them whether it is secret.
func schemaFields(schema jsontext.Value) (fields []ownerapi.QuestionField, marked bool, err error) {
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
		var p property
		if json.Unmarshal(value, &p) != nil {
			return errForm
		}
		f := fieldOf(name, p)
		f.Required = slices.Contains(outline.Required, name)
		marked = marked || f.Secret || p.WriteOnly != nil
		fields = append(fields, f)
		return nil
	})
	if err != nil {
		return nil, false, errForm
	}
	return fields, marked, nil
}

func fieldOf(name string, p property) ownerapi.QuestionField {
	f := ownerapi.QuestionField{Name: name, Label: name, Type: "string"}
	if p.Title != "" {
		f.Label = p.Title
	}
	f.Secret = p.Format == "password" || p.WriteOnly != nil && *p.WriteOnly
	for _, kind := range []string{"boolean", "integer", "number"} {
		if strings.Contains(string(p.Type), `"`+kind+`"`) {
			f.Type = kind
			break
		}
	}
	for _, c := range p.Enum {
		f.Options = append(f.Options, fmt.Sprint(c))
	}
	return f
}

var errNeeded = errors.New("an answer is needed")

// typedValue turns what was typed into JSON; ok is false for an optional field left empty.
func typedValue(f ownerapi.QuestionField, text string) (v any, ok bool, err error) {
	if text == "" {
		if f.Required {
			return nil, false, errNeeded
		}
		return nil, false, nil
	}
	if len(f.Options) > 0 && !slices.Contains(f.Options, text) {
		return nil, false, errors.New("choose one of: " + strings.Join(f.Options, ", "))
	}
	switch f.Type {
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
