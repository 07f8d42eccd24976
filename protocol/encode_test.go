package protocol

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/go-json-experiment/json/jsontext"
)

// sameMessage compares messages by meaning: raw values by their compact form,
// absent lists as empty ones, and no view of the line.
var sameMessage = cmp.Options{
	cmpopts.IgnoreUnexported(Record{}),
	cmp.FilterPath(
		func(p cmp.Path) bool { return p.Last().Type() != reflect.TypeFor[jsontext.Value]() },
		cmpopts.EquateEmpty(),
	),
	cmp.Comparer(func(a, b jsontext.Value) bool {
		x, _ := jsontext.AppendFormat(nil, a)
		y, _ := jsontext.AppendFormat(nil, b)
		return (a == nil) == (b == nil) && bytes.Equal(x, y)
	}),
}

func TestRoundTrip(t *testing.T) {
	for name := range smallest {
		t.Run(string(name), func(t *testing.T) {
			dec := NewDecoder(direction(name))
			rapid.Check(t, func(t *rapid.T) {
				want := messages[name](t)
				line, err := AppendLine([]byte("kept"), want)
				if err != nil {
					t.Fatal(err)
				}
				text, found := strings.CutPrefix(string(line), "kept")
				if body, ended := strings.CutSuffix(text, "\n"); !found || !ended || strings.ContainsAny(body, "\n\r\u2028\u2029") {
					t.Fatalf("not one clean line: %q", line)
				}
				got, err := dec.Decode([]byte(strings.TrimSuffix(text, "\n")))
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				if diff := cmp.Diff(want, got, sameMessage); diff != "" {
					t.Fatalf("%s (-want +got):\n%s", text, diff)
				}
			})
		})
	}
}

// A message with only a type is a complete line.
func TestEncodeEmptyMessage(t *testing.T) {
	line, err := AppendLine(nil, &SkipResult{})
	if err != nil || string(line) != `{"type":"SKIP_RESULT"}`+"\n" {
		t.Errorf("%q (%v)", line, err)
	}
}

// A message that cannot be written leaves what was there before untouched.
func TestEncodeFailures(t *testing.T) {
	for _, m := range []Message{
		&Record{Stream: "\xff", Key: "k"}, &Record{Stream: "s", Key: "\xff\u2028"},
		&Record{Stream: "s", Key: "k", EmittedAt: "\xff"},
		&Record{Stream: "s", Key: "k", Data: raw(`{"a":`)}, &Record{Stream: "s", Key: "k", Data: raw(`{"a":1,"a":2}`)},
		&State{Stream: "s", Cursor: raw(`{`)}, &Progress{Message: "\xff"}, &Interaction{TimeoutSeconds: new(math.Inf(1))},
		&Assistance{Attachments: []Attachment{{Kind: "url", Extra: raw(`{"kind":"qr"}`)}}},
	} {
		line, err := AppendLine([]byte("kept\n"), m)
		if err == nil || string(line) != "kept\n" {
			t.Errorf("%+v is written as %q (%v)", m, line, err)
		}
	}
}
