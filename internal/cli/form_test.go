package cli

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"pdpp/protocol"
)

func TestFormOf(t *testing.T) {
	tests := []struct {
		name   string
		kind   protocol.InteractionKind
		schema string
		want   []field
	}{
		{"a code without a form", protocol.AskOTP, ``, []field{{name: "code", title: "code", kind: "string", required: true, secret: true}}},
		{"credentials without a form", protocol.AskCredentials, `{"type":"object"}`, []field{{name: "value", title: "value", kind: "string", required: true, secret: true}}},
		{"something to do", protocol.AskManualAction, ``, nil},
		{
			"the order of the form, and what it marks as secret", protocol.AskMissingCredentials,
			`{"properties":{"z":{"title":"Name"},"a":{"type":"string","writeOnly":true},"m":{"format":"password"}},"required":["a"]}`,
			[]field{
				{name: "z", title: "Name", kind: "string"},
				{name: "a", title: "a", kind: "string", required: true, secret: true},
				{name: "m", title: "m", kind: "string", secret: true},
			},
		},
		{
			"nothing marked: all secret", protocol.AskCredentials, `{"properties":{"user":{},"pin":{}}}`,
			[]field{{name: "user", title: "user", kind: "string", secret: true}, {name: "pin", title: "pin", kind: "string", secret: true}},
		},
		{
			"nothing marked in a task: nothing secret", protocol.AskManualAction,
			`{"properties":{"n":{"type":["integer","null"]},"ok":{"type":"boolean"},"x":{"type":"number"},"c":{"enum":["red","blue"]}}}`,
			[]field{
				{name: "n", title: "n", kind: "integer"}, {name: "ok", title: "ok", kind: "boolean"},
				{name: "x", title: "x", kind: "number"}, {name: "c", title: "c", kind: "string", choices: []string{"red", "blue"}},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := formOf(protocol.Interaction{Kind: tt.kind, Schema: jsontext.Value(tt.schema)})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(field{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFormOfRefusesGarbage(t *testing.T) {
	for _, schema := range []string{`[]`, `{"properties":{"a":7}}`, `{"required":"a"}`, `{`} {
		if got, err := formOf(protocol.Interaction{Kind: protocol.AskOTP, Schema: jsontext.Value(schema)}); err == nil {
			t.Errorf("%s: %v", schema, got)
		}
	}
}

func TestFieldValue(t *testing.T) {
	tests := []struct {
		f    field
		text string
		want any
		ok   bool
		bad  bool
	}{
		{field{kind: "string", required: true}, "pear", "pear", true, false},
		{field{kind: "string", required: true}, "", nil, false, true},
		{field{kind: "string"}, "", nil, false, false},
		{field{kind: "string", choices: []string{"red"}}, "red", "red", true, false},
		{field{kind: "string", choices: []string{"red"}}, "green", nil, false, true},
		{field{kind: "boolean"}, "Yes", true, true, false},
		{field{kind: "boolean"}, "n", false, true, false},
		{field{kind: "boolean"}, "perhaps", nil, false, true},
		{field{kind: "integer"}, "12", int64(12), true, false},
		{field{kind: "integer"}, "1.5", nil, false, true},
		{field{kind: "number"}, "1.5", 1.5, true, false},
		{field{kind: "number"}, "much", nil, false, true},
	}
	for _, tt := range tests {
		got, ok, err := tt.f.value(tt.text)
		if got != tt.want || ok != tt.ok || (err != nil) != tt.bad {
			t.Errorf("%s %q: %v, %t, %v", tt.f.kind, tt.text, got, ok, err)
		}
	}
}
