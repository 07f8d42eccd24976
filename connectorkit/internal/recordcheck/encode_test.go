package recordcheck

import (
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"
)

type encodedThing struct {
	ID    string `json:"id"`
	Text  string `json:"text,omitzero"`
	Count int64  `json:"count"`
	Size  int    `json:"size,omitzero"`
	Good  bool   `json:"good,omitzero"`
	Bad   bool   `json:"bad"`
}

// drawText draws a text of what is easily encoded wrongly, at every place of a word of the machine.
func drawText(t *rapid.T, name string) string {
	parts := rapid.SliceOfN(rapid.SampledFrom([]string{
		"a",
		"harbour",
		"\"",
		"\\",
		"\n",
		"\r\t\b\f",
		"\x00",
		"\x1f",
		" ",
		"\x7f",
		"é",
		"\u2028",
		"\u2029",
		"\u2027",
		"😀",
		"\xff",
		"\xc3",
		"<&>",
		"!#[]^",
		"\\u0041",
	}), 0, 12).Draw(t, name)
	return strings.Join(parts, "") + rapid.String().Draw(t, name+" more")
}

// TestQuickEncoding holds that what is encoded quickly is what json.Marshal writes, to the byte,
// and that what it would refuse is refused.
func TestQuickEncoding(t *testing.T) {
	t.Parallel()
	quick := EncoderFor(reflect.TypeFor[encodedThing]())
	if quick == nil {
		t.Fatal("a plain struct goes the long way")
	}
	taken, left := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		v := encodedThing{
			drawText(t, "id"),
			drawText(t, "text"),
			rapid.Int64().Draw(t, "count"),
			rapid.Int().Draw(t, "size"),
			rapid.Bool().Draw(t, "good"),
			rapid.Bool().Draw(t, "bad"),
		}
		want, err := json.Marshal(v, json.Deterministic(true))
		got, ok := quick.AppendRecord([]byte("x")[:0], reflect.ValueOf(v))
		separators := strings.ContainsAny(v.ID+v.Text, "\u2028\u2029")
		switch {
		case ok != (err == nil && !separators):
			t.Fatalf("%+v is taken: %t, and json.Marshal says %v", v, ok, err)
		case ok && string(got) != string(want):
			t.Fatalf("%+v\n becomes %s\n not     %s", v, got, want)
		case ok:
			taken++
		default:
			left++
		}
	})
	if taken == 0 || left == 0 {
		t.Errorf("%d taken, %d left: not both ways were gone", taken, left)
	}
}

type encodesItself struct{ A string }

func (encodesItself) MarshalText() ([]byte, error) { return []byte("own"), nil }

// TestQuickEncodingKnowsItsLimits holds which types go the long way.
func TestQuickEncodingKnowsItsLimits(t *testing.T) {
	t.Parallel()
	type named string
	for what, v := range map[string]any{
		"its own form": encodesItself{}, "no tag": struct{ A string }{}, "a list": struct {
			A []string `json:"a"`
		}{}, "a named type": struct {
			A named `json:"a"`
		}{}, "an option": struct {
			A int `json:"a,string"`
		}{}, "an inner struct": struct {
			encodedThing
		}{}, "an escaped name": reflect.Zero(reflect.StructOf([]reflect.StructField{
			{Name: "A", Type: reflect.TypeFor[string](), Tag: `json:"a\"b"`},
		})).Interface(), "a map": map[string]string{},
	} {
		if EncoderFor(reflect.TypeOf(v)) != nil {
			t.Errorf("%s is encoded quickly", what)
		}
	}
}

// TestSpecial holds that the look at many bytes at once finds what a look at each finds, wherever it is.
func TestSpecial(t *testing.T) {
	t.Parallel()
	for _, one := range []string{`"`, `\`, "\x00", "\x1f", "\x7f", "\x80", "\xa2", "\xdc", "!#[]", `""`, `!"`, ""} {
		for before := range 36 {
			s := strings.Repeat("a", before) + one + strings.Repeat("b", 35-before)
			for i := range len(s) + 1 {
				want := i
				for want < len(s) && isPlainByte(s[want]) {
					want++
				}
				if got := firstSpecial(s, i); got != want {
					t.Fatalf("%q from %d: %d, want %d", s, i, got, want)
				}
			}
		}
	}
}
