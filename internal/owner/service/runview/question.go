package runview

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/collect/interaction"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/declaration"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// Types of a question's fields.
const (
	eventTypeText = "string"
	typeYesNo     = "boolean"
	typeWhole     = "integer"
	typeDecimal   = "number"
)

// eventMember is what a form reads of a property's JSON Schema.
type eventMember struct {
	Type      jsontext.Value `json:"type"`
	Title     string         `json:"title"`
	Format    string         `json:"format"`
	WriteOnly *bool          `json:"writeOnly"`
	Enum      []any          `json:"enum"`
}

// DescribeQuestion returns the question that a run waits for. It returns an error if the form cannot be parsed.
func DescribeQuestion(q store.Interaction) (api.Question, error) {
	fields, err := questionFields(q)
	if err != nil {
		return api.Question{}, err
	}
	out := api.Question{
		RunID: q.RunID, RequestID: q.RequestID, Kind: string(q.Kind), Message: q.Message, ExpiresAt: q.ExpiresAt,
		Fields: []api.QuestionField{},
	}
	out.Fields = append(out.Fields, fields...)
	return out, nil
}

// questionFields reads the fields of a question in the order of its schema. A question
// for secrets that marks none of its fields has only secret ones, and one without a form
// asks for one text, unless it asks for something to be done elsewhere.
func questionFields(q store.Interaction) ([]api.QuestionField, error) {
	fields, marked, err := schemaFields(q.Schema)
	if err != nil {
		return nil, err
	}
	if len(fields) == 0 && q.Kind != protocol.AskManualAction {
		name := "value"
		if q.Kind == protocol.AskOTP {
			name = "code"
		}
		fields = []api.QuestionField{{Name: name, Label: text.Name(name), Type: eventTypeText, Required: true}}
	}
	if q.Kind.Secret() && !marked {
		for i := range fields {
			fields[i].Secret = true
		}
	}
	return fields, nil
}

// schemaFields parses the properties of a form. marked is true if the schema declares for any of them whether it is
// secret.
func schemaFields(schema jsontext.Value) (fields []api.QuestionField, marked bool, err error) {
	if len(schema) == 0 {
		return nil, false, nil
	}
	var outline struct {
		Required []string `json:"required"`
	}
	if json.Unmarshal(schema, &outline) != nil {
		return nil, false, interaction.ErrFormUnreadable
	}
	declaration.EachProperty(schema, func(name string, value jsontext.Value) {
		var m eventMember
		if json.Unmarshal(value, &m) != nil {
			err = interaction.ErrFormUnreadable
			return
		}
		f := api.QuestionField{Name: name, Label: m.Title, Type: eventTypeText,
			Required: slices.Contains(outline.Required, name)}
		if f.Label == "" {
			f.Label = text.Name(name)
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
