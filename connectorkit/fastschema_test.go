package connectorkit

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/connectorkit/internal/recordcheck"
	"github.com/pdpp-go/pdpp/protocol"
)

// drawSchema draws a schema of what gate.Schema knows, and now and then of what it does not.
func drawSchema(t *rapid.T, depth int) map[string]any {
	s := map[string]any{}
	kinds := []string{"null", "boolean", "string", "integer", "number", "array", "object"}
	switch rapid.IntRange(0, 3).Draw(t, "typed") {
	case 0:
	case 1:
		s["type"] = rapid.SampledFrom(kinds).Draw(t, "type")
	default:
		s["type"] = []string{rapid.SampledFrom(kinds).Draw(t, "one"), "null"}
		if s["type"].([]string)[0] == "null" {
			s["type"] = "null"
		}
	}
	if rapid.IntRange(0, 5).Draw(t, "enumerated") == 0 {
		s["enum"] = rapid.SampledFrom([][]any{{"a", "b\n"}, {"a", nil}, {1, 2}, {""}}).Draw(t, "enum")
	}
	if rapid.IntRange(0, 5).Draw(t, "long") == 0 {
		s["minLength"] = rapid.IntRange(0, 3).Draw(t, "least")
	}
	if rapid.IntRange(0, 9).Draw(t, "more") == 0 {
		s[rapid.SampledFrom([]string{"format", "x_pdpp_role", "title"}).Draw(t, "word")] = "date-time"
	}
	if rapid.IntRange(0, 19).Draw(t, "other") == 0 {
		s["minimum"] = 1
	}
	if depth == 0 {
		return s
	}
	if rapid.Bool().Draw(t, "with members") {
		members := map[string]any{}
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(memberNames), 0, 4, rapid.ID[string]).Draw(t,
			"members") {
			members[name] = drawSchema(t, depth-1)
		}
		s["properties"] = members
		s["required"] = rapid.SliceOfNDistinct(rapid.SampledFrom(memberNames), 0, 2, rapid.ID[string]).Draw(t, "required")
	}
	switch rapid.IntRange(0, 4).Draw(t, "others") {
	case 0:
		s["additionalProperties"] = rapid.Bool().Draw(t, "open")
	case 1:
		s["additionalProperties"] = drawSchema(t, depth-1)
	}
	if rapid.IntRange(0, 2).Draw(t, "listing") == 0 {
		s["items"] = drawSchema(t, depth-1)
	}
	return s
}

var memberNames = []string{"id", "a", "b", "text", "quo\"ted", "ü"}

func drawValue(t *rapid.T, depth int) any {
	n := 8
	if depth == 0 {
		n = 6
	}
	switch rapid.IntRange(0, n).Draw(t, "value") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return rapid.SampledFrom([]string{"", "a", "b\n", "\\", "\\\"", "\"", "é\u2028", "long enough",
			"ghp_0123456789012345678901234567890123"}).
			Draw(t, "text")
	case 3:
		return rapid.IntRange(-3, 3).Draw(t, "whole")
	case 4:
		return rapid.SampledFrom([]float64{1, 0.5, -2.25, 1e21, 1e-7}).Draw(t, "number")
	case 5, 6:
		return rapid.String().Draw(t, "any text")
	case 7:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			list = append(list, drawValue(t, depth-1))
		}
		return list
	}
	return drawRecord(t, depth-1)
}

func drawRecord(t *rapid.T, depth int) map[string]any {
	m := map[string]any{}
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(memberNames), 0, 5, rapid.ID[string]).Draw(t, "names") {
		m[name] = drawValue(t, max(0, depth))
	}
	return m
}

// written runs a connector over records and returns what it writes.
func written(t *rapid.T, manifest string, slow bool, scope string, records []Record) string {
	c, err := New([]byte(manifest), func(_ context.Context, s *Setup) ([]Collector, error) {
		s.MaskSecrets("standard")
		return []Collector{
			PagedStream{Stream: "log", Page: func(context.Context, Cursor) (Page, error) { return Page{Records: records}, nil }},
		}, nil
	})
	if err != nil {
		t.Fatalf("manifest: %v\n%s", err, manifest)
	}
	if slow {
		judge := c.Validate
		c.Validate = func(stream string, record map[string]any) error { return judge(stream, record) }
		if c.quickSchemas() != nil {
			t.Fatal("a judge of the connector's own is passed over")
		}
	} else if c.quickSchemas() == nil {
		t.Fatal("records go the long way")
	}
	stdin, w := io.Pipe()
	defer w.Close()
	var out, log bytes.Buffer
	Run(t.Context(), c, Process{
		Stdin:  io.MultiReader(strings.NewReader(strings.Replace(startLine, `{"name":"log"}`, scope, 1)), stdin),
		Stdout: &out,
		Stderr: &log,
		Env:    func(string) string { return "" },
		Now:    func() time.Time { return time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC) },
	})
	return firstFault.ReplaceAllString(out.String(), "")
}

// firstFault is which of several faults of a record is reported, which is left to chance.
var firstFault = regexp.MustCompile(`, first at [^"]*|"schema_paths":\[[^\]]*\]`)

// plainNote is a record with fields that are judged themselves.
type plainNote struct {
	ID   string `json:"id"`
	A    string `json:"a,omitzero"`
	B    int    `json:"b,omitzero"`
	Text string `json:"text"`
	Flag bool   `json:"flag,omitzero"`
}

// TestQuickJudgesAlike holds that records of any shape, under any schema and scope, are
// written or declared as missing exactly as by the long way.
//
//pdpp:tier unraced
func TestQuickJudgesAlike(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		schema := drawSchema(t, 2)
		schema["type"] = "object"
		delete(schema, "enum")
		members, _ := schema["properties"].(map[string]any)
		if members == nil {
			members = map[string]any{}
			schema["properties"] = members
		}
		members["id"] = map[string]any{"type": rapid.SampledFrom([]string{"string", "integer"}).Draw(t, "key")}
		if required, _ := schema["required"].([]string); required != nil { // a manifest has no others
			schema["required"] = slices.DeleteFunc(required, func(name string) bool { return members[name] == nil })
		}
		encoded, err := json.Marshal(schema)
		if err != nil {
			t.Fatal(err)
		}
		manifest := fmt.Sprintf(
			`{"protocol_version":"0.1.0","connector_id":"logs","version":"1.0.0","display_name":"Logs","streams":[
			{"name":"log","semantics":"append_only","primary_key":"id","schema":%s,"selection":{"fields":true,`+
				`"resources":true}}]}`,
			encoded,
		)
		var records []Record
		for range rapid.IntRange(1, 12).Draw(t, "records") {
			rec := drawRecord(t, 2)
			if rapid.IntRange(0, 5).Draw(t, "with a key") > 0 {
				rec["id"] = rapid.SampledFrom([]any{"one", "two \"quoted\"", "ü", 7, ""}).Draw(t, "id")
			}
			switch rapid.IntRange(0, 6).Draw(t, "form") {
			case 0:
				raw, err := json.Marshal(rec)
				if err != nil {
					t.Fatal(err)
				}
				records = append(records, Upsert(jsontext.Value(raw)))
			case 1, 2, 3:
				texts := rapid.SampledFrom(
					[]string{"", "a", "b\n", "one", "two \"quoted\"", "é", "\u2028", "\xff", "ghp_0123456789012345678901234567890123"},
				)
				records = append(
					records,
					Upsert(
						&plainNote{
							texts.Draw(t, "id"),
							texts.Draw(t, "a"),
							rapid.IntRange(-1, 7).Draw(t, "b"),
							texts.Draw(t, "text"),
							rapid.Bool().Draw(t, "flag"),
						},
					),
				)
			default:
				records = append(records, Upsert(rec))
			}
		}
		scope := rapid.SampledFrom([]string{`{"name":"log"}`, `{"name":"log","resources":["one","7"]}`,
			`{"name":"log","fields":["text"]}`}).
			Draw(t, "scope")
		if quick, slow := written(
			t,
			manifest,
			false,
			scope,
			records,
		), written(
			t,
			manifest,
			true,
			scope,
			records,
		); quick != slow {
			t.Fatalf("schema %s\nquick %s\nslow  %s", encoded, quick, slow)
		}
	})
}

// FuzzQuick holds that no bytes are called good that the long way cannot read or refuses.
func FuzzQuick(f *testing.F) {
	f.Add([]byte(`{"id":"x","n":1,"list":[true,null,{"a":"\u0000"}]}`))
	f.Add([]byte(`{"id":"\\","id":"y"}`))
	schema := `{"type":"object","properties":{"id":{"type":"string","minLength":1},"n":{"type":["integer","null"]},` +
		`"list":{"type":"array","items":{"type":["boolean","null","object"]}}},"required":["id"],` +
		`"additionalProperties":{"type":"string"}}`
	c, err := New(
		[]byte(
			`{"protocol_version":"0.1.0","connector_id":"logs","version":"1.0.0","display_name":"Logs",`+
				`"streams":[{"name":"log","semantics":"append_only","primary_key":"id","schema":`+schema+`}]}`,
		),
		nil,
	)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var v any // only what the kit could have written
		if json.Unmarshal(text, &v) != nil {
			return
		}
		raw, err := json.Marshal(v, json.Deterministic(true))
		if err != nil {
			return
		}
		named := map[string]any{}
		fields, plain := protocol.NewDecoder(protocol.FromConnector).Object(raw)
		if !plain || !c.quick()["log"].Allows(fields) || !recordcheck.PickMembers(named, fields, []string{"id"}) {
			return
		}
		tree, err := recordcheck.NewRecordDecoder().DecodeRecord(raw)
		if err != nil || c.Validate("log", tree) != nil || tree["id"] != named["id"] {
			t.Fatalf("%s is called good: %v, %v", raw, err, named)
		}
	})
}
