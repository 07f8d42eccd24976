package cli

import (
	"bytes"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

func TestWords(t *testing.T) {
	tests := []struct{ got, want string }{
		{oneLine("a\tb\nc\x1b[0m\u009bd\u00a0é"), "a b c [0m d\u00a0é"},
		{duration(1234567 * time.Nanosecond), "1ms"}, {duration(1234 * time.Millisecond), "1.2s"}, {duration(61234 * time.Millisecond), "1m1s"},
		{wrapped("one two  three", 20, "  "), "one two three"}, {wrapped("one two three", 7, "  "), "one two\n  three"}, {wrapped("pineapple pear", 4, "_"), "pineapple\n_pear"},
		{orDash(""), "-"}, {orDash("x"), "x"}, {whenever(nil), "-"},
		{indented(jsontext.Value("{\"b\":1,\"a\":[\"\u009b\"]}")), "{\n  \"b\": 1,\n  \"a\": [\n    \"\\u009b\"\n  ]\n}"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

func TestWriteJSONTimesInUTC(t *testing.T) {
	var out bytes.Buffer
	east := time.Date(2026, 3, 1, 10, 0, 0, 5e6, time.FixedZone("east", 2*3600))
	writeJSON(&out, map[string]any{"at": east, "maybe": &east, "none": (*time.Time)(nil), "list": []string(nil)})
	want := `{"at":"2026-03-01T08:00:00.005Z","list":[],"maybe":"2026-03-01T08:00:00.005Z","none":null}` + "\n"
	if out.String() != want {
		t.Errorf("got %s", out.String())
	}
}

func TestNearest(t *testing.T) {
	names := []string{"run", "runs", "records", "record", "streams"}
	for typed, want := range map[string]string{"rnu": "run", "recrods": "records", "stream": "streams", "str": "streams", "banana": ""} {
		if got := nearest(typed, names); got != want {
			t.Errorf("%s: %q, want %q", typed, got, want)
		}
	}
}

func TestDiffValues(t *testing.T) {
	tests := []struct{ from, to, want string }{
		{`{"a":1}`, `{ "a" : 1 }`, ``},
		{`{"a":{"b":1,"c":2}}`, `{"a":{"b":1,"c":3}}`, `/a/c 2 3;`},
		{`{"a":1}`, `{"b":1}`, `/a 1 ;/b  1;`},
		{`null`, `{"a":1}`, ` null {"a":1};`},
		{`{"a":[1,2]}`, `{"a":[2,1]}`, `/a [1,2] [2,1];`},
		{``, ``, ``},
	}
	for _, tt := range tests {
		var got string
		for _, d := range diffValues("", jsontext.Value(tt.from), jsontext.Value(tt.to)) {
			got += d.Path + " " + string(d.From) + " " + string(d.To) + ";"
		}
		if got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.from, tt.to, got, tt.want)
		}
	}
}
