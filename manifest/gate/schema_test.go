package gate

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// schemas are of members, plain ones and others.
var memberSchemas = []string{
	`{"type":"string"}`,
	`{"type":["string","null"],"format":"date-time"}`,
	`{"type":"integer"}`,
	`{"type":["integer","null"]}`,
	`{"type":"number","description":"d"}`,
	`{"type":"boolean"}`,
	`{"type":"null"}`,
	`{"type":"array"}`,
	`{"type":"object"}`,
	`{"type":["object","string"]}`,
	`true`,
	`false`,
	`{}`,
	`{"type":"string","maxLength":2}`,
	`{"type":"array","items":{"type":"integer"}}`,
	`{"enum":["a",1,null]}`,
	`{"type":"number","minimum":3}`,
	`{"type":"object","required":["a"]}`,
	`{"title":"t"}`,
}

var memberValues = []string{
	`"a"`,
	`"abc"`,
	`""`,
	`1`,
	`1.0`,
	`1.5`,
	`-3`,
	`0`,
	`1e2`,
	`123456789012345678901234567890`,
	`true`,
	`false`,
	`null`,
	`[]`,
	`[1]`,
	`["a"]`,
	`["\ud83d\ude00"]`,
	`[1,"\ud83d\ude00"]`,
	`{}`,
	`{"a":1}`,
}

func gateFor(t testing.TB, schema string) *Stream {
	t.Helper()
	m, err := manifest.Parse(
		[]byte(
			`{"protocol_version":"0.1.0","connector_id":"x","version":"1","display_name":"X","streams":[{"name":"entries",` +
				`"semantics":"mutable_state","primary_key":"id","schema":` + schema + `}]}`,
		),
	)
	if err != nil {
		t.Fatal(err)
	}
	gates, err := Resolve(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := EnforceSchemas(gates); err != nil {
		t.Fatal(err)
	}
	return gates[0]
}

func recordOf(t testing.TB, data string) *protocol.Record {
	t.Helper()
	line := []byte(
		`{"type":"RECORD","stream":"entries","key":"a","data":` + data + `,"emitted_at":"2026-01-02T03:04:05Z"}`,
	)
	msg, err := protocol.NewDecoder(protocol.FromConnector).Decode(line)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return msg.(*protocol.Record)
}

// The compiled schema accepts a record only if the full schema does, and decides most records.
func TestQuickSaysWhatTheSchemaSays(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 11))
	short, whole := 0, 0
	for range 600 {
		schema, data := `"id":{"type":"string"}`, `"id":"a"`
		for _, name := range []string{"b", "c", "d"} {
			if rng.IntN(5) > 0 {
				schema += fmt.Sprintf(`,%q:%s`, name, memberSchemas[rng.IntN(len(memberSchemas))])
			}
			if rng.IntN(5) > 0 {
				data += fmt.Sprintf(`,%q:%s`, name, memberValues[rng.IntN(len(memberValues))])
			}
		}
		more := []string{``, `,"additionalProperties":true`, `,"additionalProperties":false`, `,"title":"t"`,
			`,"minProperties":3`, `,"required":["id"]`}[rng.IntN(6)]
		if strings.Contains(schema, `"b":`) && rng.IntN(4) == 0 {
			more = `,"required":["b"]`
		}
		st := gateFor(t, `{"type":"object","properties":{`+schema+`}`+more+`}`)
		r := recordOf(t, `{`+data+`}`)
		var tree any
		allowed := json.Unmarshal(r.Data, &tree) == nil && st.schema.Validate(tree) == nil
		if st.quick != nil && st.quick.Allows(r.Fields()) {
			short++
			if !allowed {
				t.Fatalf("{%s}%s allows {%s}", schema, more, data)
			}
		}
		if allowed {
			whole++
		}
		if v := st.gateSchema(r); (v == nil) != allowed {
			t.Fatalf("{%s}%s: {%s} is %v, want allowed %v", schema, more, data, v, allowed)
		}
	}
	// A number out of range is rejected only for members of type number.
	st := gateFor(t, `{"type":"object","properties":{"id":{"type":"string"},"b":{"type":"number"}}}`)
	if st.gateSchema(recordOf(t, `{"id":"a","b":1E400}`)) == nil ||
		st.gateSchema(recordOf(t, `{"id":"a","c":1E400}`)) != nil {
		t.Error("an extreme number is misjudged")
	}
	if short*3 < whole*2 {
		t.Errorf("the short way was taken %d times of %d", short, whole)
	}
}

// The cost of a record with and without a check against its schema.
func BenchmarkRecord(b *testing.B) {
	st := gateFor(
		b,
		`{"type":"object","required":["id","at"],"properties":{"id":{"type":"string"},"at":{"type":"string"},`+
			`"kind":{"type":"string"},"count":{"type":"integer"},"text":{"type":"string"},"fill":{"type":["string","null"]}}}`,
	)
	free, whole := *st, *st
	free.schema, whole.quick = nil, nil
	line := []byte(
		`{"type":"RECORD","stream":"entries","key":"a","data":{"id":"a","at":"2026-01-02T03:04:05Z","kind":"note",` +
			`"count":12,"text":"` +
			strings.Repeat(
				"some words ",
				20,
			) + `","fill":"` + strings.Repeat(
			"x",
			300,
		) + `"},"emitted_at":"2026-01-02T03:04:05Z"}`,
	)
	for name, st := range map[string]*Stream{"free": &free, "quick": st, "whole": &whole} {
		b.Run(name, func(b *testing.B) {
			d := protocol.NewDecoder(protocol.FromConnector)
			for b.Loop() {
				msg, err := d.Decode(line)
				if err != nil {
					b.Fatal(err)
				}
				if _, v := st.Record(msg.(*protocol.Record)); v != nil {
					b.Fatal(v)
				}
			}
		})
	}
}

// TestQuickIsTaken holds that usual schemas are judged the quick way, good records in them,
// and that what cannot be judged so is not.
func TestQuickIsTaken(t *testing.T) {
	t.Parallel()
	usual, ok := CompileSchema(
		jsontext.Value(
			`{"type":"object","properties":{"id":{"type":"string"},"at":{"type":["string","null"],"format":"date-time",
			"x_pdpp_role":"event-time"},
		"n":{"type":"integer"},"tags":{"type":"array","items":{"type":"string"}},"kind":{"type":"string","enum":["a","b"]},
		"one":{"type":"string","minLength":1},"two":{"type":"string","minLength":2},
		"flag":{"type":"boolean"},"none":{"type":"null"},"box":{"type":"object","properties":{"a":{"type":"number"}},
		"required":["a"],"additionalProperties":false}},"required":["id"]}`,
		), nil,
	)
	if !ok {
		t.Fatal("a usual schema goes the long way")
	}
	for record, want := range map[string]bool{
		`{"id":"x","at":null,"n":3,"tags":["a","b"],"kind":"a","more":{"deep":[1,{}]}}`: true,
		`{"id":"with \"quotes\" and \\"}`:                                               true,
		`{"id":7}`:                                                                      false,
		`{"at":"x"}`:                                                                    false,
		`{"id":"x","n":1.5}`:                                                            false,
		`{"id":"x","tags":["a",1]}`:                                                     false,
		`{"id":"x","kind":"c"}`:                                                         false,
		`{"id":"x","one":"y","two":"éé","flag":true,"none":null,"box":{"a":-1.5}}`: true,
		`{"id":"x","flag":false,"box":{"a":0},"tags":[]}`:                          true,
		`{"id":"x","one":""}`:                      false,
		`{"id":"x","two":"é"}`:                     false,
		`{"id":"x","flag":null}`:                   false,
		`{"id":"x","box":{"a":1e3}}`:               false,
		`{"id":"x","tags":["\ud83d\ude00"]}`:       false, // left to the full validation
		`{"id":"x","tags":["a","\ud83d\ude00",7]}`: false,
		`{"id":"x","none":true}`:                   false,
		`{"id":"x","box":{}}`:                      false,
		`{"id":"x","box":{"a":1,"b":2}}`:           false,
		`{"id":"x","box":[1]}`:                     false,
		`{"id":"x","n":"3"}`:                       false,
		`{"id":"x",}`:                              false,
		`{"id":"x" "n":1}`:                         false,
		`{"id""x"}`:                                false,
		`{,"id":"x"}`:                              false,
		`{"id":"x","flag":tru}`:                    false,
		`{"id":"x","tags":["a" "b"]}`:              false,
		`{"id":"x","tags":["a"`:                    false,
		`{"id":"x`:                                 false,
		`{"id":"x","tags":{}}`:                     false,
		`{"id":"x","n":x}`:                         false,
		`{"id":"x","n":3-}`:                        false,
		`{"id":"x","n"`:                            false,
		`{"id":"x","n":`:                           false,
		`{"id":"x","n":3`:                          false,
		``:                                         false, `[]`: false, `{`: false, `{}`: false,
		`{"id":"x"`:   false,
		`{"id":"x"}}`: false,
		strings.Repeat(`{"id":`, 200) + `1` + strings.Repeat("}", 200): false,
	} {
		fields, plain := protocol.NewDecoder(protocol.FromConnector).Object([]byte(record))
		if got := plain && usual.Allows(fields); got != want {
			t.Errorf("%s: %v", record, got)
		}
	}
	others, ok := CompileSchema(jsontext.Value(`{"required":["k"],"additionalProperties":{"type":"integer"}}`), nil)
	if !ok {
		t.Fatal("a schema of other members goes the long way")
	}
	for record, want := range map[string]bool{`{"k":1}`: true, `{"k":1,"m":2}`: true, `{"k":"x"}`: false,
		`{"m":2}`: false, `{"k":1,"m":"x"}`: false} {
		fields, plain := protocol.NewDecoder(protocol.FromConnector).Object([]byte(record))
		if got := plain && others.Allows(fields); got != want {
			t.Errorf("%s among other members: %v", record, got)
		}
	}
	for _, schema := range []string{`{"type":"object","anyOf":[{}]}`, `{"properties":{"a":{"pattern":"x"}}}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#"}`, `{"items":[{}]}`, `true`} {
		if _, ok := CompileSchema(jsontext.Value(schema), nil); ok {
			t.Errorf("%s is judged the quick way", schema)
		}
	}
}
