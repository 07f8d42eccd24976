package expression_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/declarative/expression"
)

// everything is the scope with all variables.
var everything = expression.ScopeOf(expression.Config, expression.Parameters, expression.StreamSlice,
	expression.Response, expression.Headers, expression.LastRecord, expression.LastPageSize, expression.NextPageToken,
	expression.Record)

var variables = map[string]expression.Variable{"config": expression.Config, "parameters": expression.Parameters,
	"stream_slice": expression.StreamSlice, "response": expression.Response, "headers": expression.Headers,
	"last_record": expression.LastRecord, "last_page_size": expression.LastPageSize,
	"next_page_token": expression.NextPageToken, "record": expression.Record}

// sampleContext returns the inputs of the vectors. The current time is 2026-11-18 09:05:07.123456 UTC.
func sampleContext(tb testing.TB, parse func(jsontext.Value) expression.Value) *expression.Context {
	tb.Helper()
	raw, err := os.ReadFile("testdata/context.json")
	if err != nil {
		tb.Fatal(err)
	}
	var inputs map[string]json.RawMessage
	if err := json.Unmarshal(raw, &inputs); err != nil {
		tb.Fatal(err)
	}
	c := &expression.Context{Now: time.Date(2026, 11, 18, 9, 5, 7, 123456000, time.UTC),
		Zone: func(string) (*time.Location, error) { return time.FixedZone("", 13*3600), nil }}
	for name, value := range inputs {
		c.Set(variables[name], parse(jsontext.Value(value)))
	}
	return c
}

func parsed(tb testing.TB) func(jsontext.Value) expression.Value {
	return func(raw jsontext.Value) expression.Value {
		v, err := expression.ParseJSON(raw)
		if err != nil {
			tb.Fatal(err)
		}
		return v
	}
}

// outcome returns the result of a template as a literal, or "error".
func outcome(source, how string, c *expression.Context) string {
	t, err := expression.Compile(source, everything)
	if err != nil {
		return "error"
	}
	var v expression.Value
	switch how {
	case "value":
		v, err = t.Value(c)
	case "entry":
		v, err = t.Entry(c)
	case "bool":
		var holds bool
		holds, err = t.Bool(c)
		v = expression.BoolValue(holds)
	}
	if err != nil {
		return "error"
	}
	return expression.Literal(v)
}

// vectors calls f for each row of the table: group, way of evaluation, template and expected literal.
func vectors(tb testing.TB, f func(group, how, source, want string)) int {
	tb.Helper()
	raw, err := os.ReadFile("testdata/vectors.tsv")
	if err != nil {
		tb.Fatal(err)
	}
	rows := 0
	for s := bufio.NewScanner(bytes.NewReader(raw)); s.Scan(); rows++ {
		fields := strings.Split(s.Text(), "\t")
		var source string
		if err := json.Unmarshal([]byte(fields[2]), &source); err != nil {
			tb.Fatalf("row %d: %v", rows+1, err)
		}
		f(fields[0], fields[1], source, fields[3])
	}
	return rows
}

func TestVectors(t *testing.T) {
	for name, parse := range map[string]func(jsontext.Value) expression.Value{"parsed": parsed(t),
		"lazy": expression.LazyJSON} {
		t.Run(name, func(t *testing.T) {
			c := sampleContext(t, parse)
			rows := vectors(t, func(group, how, source, want string) {
				if got := outcome(source, how, c); got != want {
					t.Errorf("%s: %s of %q: got %s, want %s", group, how, source, got, want)
				}
			})
			if rows < 400 {
				t.Errorf("the table has %d rows, want at least 400", rows)
			}
		})
	}
}
