package owner

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"pdpp/internal/interaction"
	"pdpp/internal/ownerapi"
	"pdpp/internal/store"
	"pdpp/protocol"
)

// Types of a question's fields.
const (
	typeText    = "string"
	typeYesNo   = "boolean"
	typeWhole   = "integer"
	typeDecimal = "number"
)

var errForm = errors.New("the question's form is not readable")

// member is what a form reads of a property's JSON Schema.
type member struct {
	Type      jsontext.Value `json:"type"`
	Title     string         `json:"title"`
	Format    string         `json:"format"`
	WriteOnly *bool          `json:"writeOnly"`
	Enum      []any          `json:"enum"`
}

// questionFields reads the fields of a question in the order of its schema. A question
// for secrets that marks none of its fields has only secret ones, and one without a form
// asks for one text, unless it asks for something to be done elsewhere.
func questionFields(q store.Interaction) ([]ownerapi.QuestionField, error) {
	fields, marked, err := schemaFields(q.Schema)
	if err != nil {
		return nil, err
	}
	if len(fields) == 0 && q.Kind != protocol.AskManualAction {
		name := "value"
		if q.Kind == protocol.AskOTP {
			name = "code"
		}
		fields = []ownerapi.QuestionField{{Name: name, Label: humane(name), Type: typeText, Required: true}}
	}
	if q.Kind.Secret() && !marked {
		for i := range fields {
			fields[i].Secret = true
		}
	}
	return fields, nil
}

// schemaFields reads the properties of a form. Marked is true when the schema says of
// any of them whether it is secret.
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
	eachProperty(schema, func(name string, value jsontext.Value) {
		var m member
		if json.Unmarshal(value, &m) != nil {
			err = errForm
			return
		}
		f := ownerapi.QuestionField{Name: name, Label: m.Title, Type: typeText, Required: slices.Contains(outline.Required, name)}
		if f.Label == "" {
			f.Label = humane(name)
		}
		f.Secret = m.Format == "password" || m.WriteOnly != nil && *m.WriteOnly
		for _, kind := range []string{typeYesNo, typeWhole, typeDecimal} {
			if strings.Contains(string(m.Type), `"`+kind+`"`) {
				f.Type = kind
				break
			}
		}
		for _, choice := range m.Enum {
			f.Options = append(f.Options, fmt.Sprint(choice))
		}
		marked = marked || f.Secret || m.WriteOnly != nil
		fields = append(fields, f)
	})
	return fields, marked, err
}

// typedValue turns what was typed into JSON; given is false for an optional field that
// was left empty. The error names the field and nothing that was typed.
func typedValue(f ownerapi.QuestionField, text string) (value any, given bool, err error) {
	wrong := func(message string) error {
		return &ownerapi.Error{Status: http.StatusBadRequest, Code: interaction.ErrInvalidAnswer.Code, Param: f.Name, Message: f.Label + ": " + message, Next: interaction.ErrInvalidAnswer.Next}
	}
	if text == "" {
		if f.Required {
			return nil, false, wrong("an answer is needed.")
		}
		return nil, false, nil
	}
	if len(f.Options) > 0 && !slices.Contains(f.Options, text) {
		return nil, false, wrong("choose one of the options.")
	}
	switch f.Type {
	case typeYesNo:
		switch strings.ToLower(text) {
		case "y", "yes", "true", "on":
			return true, true, nil
		case "n", "no", "false", "off":
			return false, true, nil
		}
		return nil, false, wrong("answer yes or no.")
	case typeWhole:
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if err != nil {
			return nil, false, wrong("a whole number is needed.")
		}
		return n, true, nil
	case typeDecimal:
		n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || n-n != 0 {
			return nil, false, wrong("a number is needed.")
		}
		return n, true, nil
	default:
		return text, true, nil
	}
}
