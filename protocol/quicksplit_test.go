package protocol

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// FuzzQuickSplit checks that the quick pass splits a line like the library, and accepts no line that the library
// rejects.
func FuzzQuickSplit(f *testing.F) {
	for _, seed := range []string{
		benchLine, ` { "type" : "RECORD" , "data" : { } } `, `{"data":{"a":1,"a":2}}`, `{"a":1,"a":2}`, `{"a":1, "a":2}`,
		`{"a":{"b":1, "b":2}}`, `{"data":{ "a":1, "a" :2}}`, `{"a":{"b":1,"c":{"b":2},"b":3}}`,
		`{"a":{"b":1,"\u0062":2}}`, `{"a":1,"\u0061":2}`,
		`{"a":"\ud83d\ude00"}`, `{"a":"\ud83d"}`, `{"a":"\uD83d x"}`, `{"a":"\u00e4\/\n"}`, "{\"a\":\"\xff\"}",
		"{\"\xff\":1}", "{\"a\":\"\x1f\"}", `{"a":"ü € 🚲"}`, `{"a":01}`, `{"a":-}`, `{"a":1.}`, `{"a":1e+}`,
		`{"a":-0.5E+10}`,
		`{"a":[1,2,]}`, `{"a":1,}`, `{,}`, `{"a"}`, `{"a":}`, `{"a":tru}`, `{"a":nullx}`, `{"a":1}{}`, `{"a":1} x`,
		"{\"a\":1}\x00", `[1]`, `7`, ``, `{`, `{"data":[{"a":1,"a":2}]}`, `{"data":{"a":{"x":1,"x":2}}}`,
		`{"data":null,"x":{"data":{"y":1}}}`,
		`{"a":{` + strings.Repeat(`"x":{`, 20) + strings.Repeat(`}`, 20) + `}}`,
	} {
		f.Add([]byte(seed), []byte(benchLine))
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		quick, slow := NewDecoder(FromConnector), NewDecoder(FromConnector)
		for _, line := range [][]byte{first, second, first} { // known names are tried first
			if TooDeep(line, MaxDepth) {
				return
			}
			quick.members, quick.rec.fields = quick.members[:0], quick.rec.fields[:0]
			if !quick.quickSplit(line) {
				continue
			}
			slow.members, slow.rec.fields = slow.members[:0], slow.rec.fields[:0]
			if v := slow.slowSplit(line); v != nil {
				t.Fatalf("%q is cut, and the library says %v", line, v)
			}
			if diff := cmp.Diff(slow.members, quick.members); diff != "" {
				t.Fatalf("%q: %s", line, diff)
			}
			if diff := cmp.Diff(slow.rec.fields, quick.rec.fields); diff != "" {
				t.Fatalf("%q: %s", line, diff)
			}
		}
	})
}

// TestPlainLinesAreQuick checks that ordinary lines do not need the library.
func TestPlainLinesAreQuick(t *testing.T) {
	t.Parallel()
	for _, line := range []string{benchLine,
		` {"type":"STATE","stream":"a","cursor":{"v":[1,-2.5e3,{"x":"ü\n\u00e4"}],"w":null}} `} {
		if !NewDecoder(FromConnector).quickSplit([]byte(line)) {
			t.Errorf("%s goes the long way", line)
		}
	}
}

// TestEveryPart visits the parts of arrays and objects. What is not plain JSON is not accepted, whatever was visited.
func TestEveryPart(t *testing.T) {
	for text, want := range map[string]string{
		`[]`:                    "",
		`[1, "a" ,{"b":[2]}]`:   `1|"a"|{"b":[2]}|`,
		`[1,"\ud83d\ude00"]`:    "not plain",
		`[1`:                    "not plain",
		`{}`:                    "",
		`{"a":1, "b" : [true]}`: `a=1|b=[true]|`,
		`{"a":1,"\u0062":2}`:    "not plain",
		`{"a":1`:                "not plain",
	} {
		got, plain := "", false
		if text[0] == '[' {
			plain = EveryElement([]byte(text), func(v jsontext.Value) bool {
				got += string(v) + "|"
				return true
			})
		} else {
			plain = EveryMember([]byte(text), func(name []byte, v jsontext.Value) bool {
				got += string(name) + "=" + string(v) + "|"
				return true
			})
		}
		if !plain {
			got = "not plain"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	if EveryElement([]byte(`[1,2]`), func(v jsontext.Value) bool { return string(v) != "2" }) {
		t.Error("a bad element is accepted")
	}
}
