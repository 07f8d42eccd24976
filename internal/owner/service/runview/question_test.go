package runview

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

func TestQuestionFields(t *testing.T) {
	tests := []struct {
		name   string
		kind   protocol.InteractionKind
		schema string
		want   []api.QuestionField
	}{
		{"a code without a form", protocol.AskOTP, ``,
			[]api.QuestionField{{Name: "code", Label: "Code", Type: "string", Required: true, Secret: true}}},
		{"credentials without a form", protocol.AskCredentials, `{"type":"object"}`,
			[]api.QuestionField{{Name: "value", Label: "Value", Type: "string", Required: true, Secret: true}}},
		{"something to do", protocol.AskManualAction, ``, nil},
		{
			"the order of the form, and what it marks as secret", protocol.AskMissingCredentials,
			`{"properties":{"z":{"title":"Name"},"a":{"type":"string","writeOnly":true},"m":{"format":"password"}},` +
				`"required":["a"]}`,
			[]api.QuestionField{
				{Name: "z", Label: "Name", Type: "string"},
				{Name: "a", Label: "A", Type: "string", Required: true, Secret: true},
				{Name: "m", Label: "M", Type: "string", Secret: true},
			},
		},
		{
			"nothing marked: all secret", protocol.AskCredentials, `{"properties":{"user":{},"pin":{}}}`,
			[]api.QuestionField{{Name: "user", Label: "User", Type: "string", Secret: true},
				{Name: "pin", Label: "Pin", Type: "string", Secret: true}},
		},
		{
			"what is marked by its format speaks for the others", protocol.AskCredentials,
			`{"properties":{"pin":{"format":"password"},"user":{}}}`,
			[]api.QuestionField{{Name: "pin", Label: "Pin", Type: "string", Secret: true},
				{Name: "user", Label: "User", Type: "string"}},
		},
		{
			"what is marked as no secret does as well", protocol.AskCredentials,
			`{"properties":{"user":{"writeOnly":false},"note":{}}}`,
			[]api.QuestionField{{Name: "user", Label: "User", Type: "string"}, {Name: "note", Label: "Note", Type: "string"}},
		},
		{
			"nothing marked in a task: nothing secret", protocol.AskManualAction,
			`{"properties":{"n":{"type":["integer","null"]},"ok":{"type":"boolean"},"x":{"type":"number"},` +
				`"c":{"enum":["red","blue"]}}}`,
			[]api.QuestionField{
				{Name: "n", Label: "N", Type: "integer"}, {Name: "ok", Label: "Ok", Type: "boolean"},
				{Name: "x", Label: "X", Type: "number"}, {Name: "c", Label: "C", Type: "string", Options: []string{"red", "blue"}},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := questionFields(store.Interaction{Kind: tt.kind, Schema: jsontext.Value(tt.schema)})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestQuestionRefusesGarbage(t *testing.T) {
	for _, schema := range []string{`[]`, `{"properties":{"a":7}}`, `{"required":"a"}`, `{`} {
		if got, err := questionFields(store.Interaction{Kind: protocol.AskOTP, Schema: jsontext.Value(schema)}); err == nil {
			t.Errorf("%s: %v", schema, got)
		}
	}
}

func TestFieldValue(t *testing.T) {
	tests := []struct {
		f    api.QuestionField
		text string
		want any
		ok   bool
		bad  bool
	}{
		{api.QuestionField{Type: "string", Required: true}, "pear", "pear", true, false},
		{api.QuestionField{Type: "string", Required: true}, "", nil, false, true},
		{api.QuestionField{Type: "string"}, "", nil, false, false},
		{api.QuestionField{Type: "string", Options: []string{"red"}}, "red", "red", true, false},
		{api.QuestionField{Type: "string", Options: []string{"red"}}, "green", nil, false, true},
		{api.QuestionField{Type: "boolean"}, "Yes", true, true, false},
		{api.QuestionField{Type: "boolean"}, "n", false, true, false},
		{api.QuestionField{Type: "boolean"}, "perhaps", nil, false, true},
		{api.QuestionField{Type: "integer"}, "12", int64(12), true, false},
		{api.QuestionField{Type: "integer"}, "1.5", nil, false, true},
		{api.QuestionField{Type: "number"}, "1.5", 1.5, true, false},
		{api.QuestionField{Type: "number"}, "much", nil, false, true},
	}
	for _, tt := range tests {
		got, ok, err := typedValue(tt.f, tt.text)
		if got != tt.want || ok != tt.ok || (err != nil) != tt.bad {
			t.Errorf("%s %q: %v, %t, %v", tt.f.Type, tt.text, got, ok, err)
		}
	}
}
