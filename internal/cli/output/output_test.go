package output

import (
	"bytes"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

func TestWords(t *testing.T) {
	tests := []struct{ got, want string }{
		{SingleLine("a\tb\nc\x1b[0m\u009bd\u00a0é"), "a b c [0m d\u00a0é"},
		{FormatDuration(1234567 * time.Nanosecond), "1ms"}, {FormatDuration(1234 * time.Millisecond), "1.2s"},
		{FormatDuration(61234 * time.Millisecond), "1m1s"},
		{WrapText("one two  three", 20, "  "), "one two three"}, {WrapText("one two three", 7, "  "), "one two\n  three"},
		{WrapText("pineapple pear", 4, "_"), "pineapple\n_pear"},
		{DashIfEmpty(""), "-"}, {DashIfEmpty("x"), "x"}, {FormatOptionalTime(nil), "-"},
		{IndentJSON(jsontext.Value("{\"b\":1,\"a\":[\"\u009b\"]}")), "{\n  \"b\": 1,\n  \"a\": [\n    \"\\u009b\"\n  ]\n}"},
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
	WriteJSON(&out, map[string]any{"at": east, "maybe": &east, "none": (*time.Time)(nil), "list": []string(nil)})
	want := `{"at":"2026-03-01T08:00:00.005Z","list":[],"maybe":"2026-03-01T08:00:00.005Z","none":null}` + "\n"
	if out.String() != want {
		t.Errorf("got %s", out.String())
	}
}
