package gate

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

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

// The simplified check accepts a record only if the full schema does, and decides most records.
func TestPlainSaysWhatTheSchemaSays(t *testing.T) {
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
		if st.plain != nil && st.plain.allows(r) {
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
	free.schema, whole.plain = nil, nil
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
	for name, st := range map[string]*Stream{"free": &free, "plain": st, "whole": &whole} {
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
