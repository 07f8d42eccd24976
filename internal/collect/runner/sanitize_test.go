package runner

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/ops/redact"
)

func TestSanitize(t *testing.T) {
	r := redact.New("hunter2-very-secret")
	for name, c := range map[string]struct{ in, want string }{
		"identifiers stay": {`{"id":"493021","mail":"ann@lantern.example"}`,
			`{"id":"493021","mail":"ann@lantern.example"}`},
		"numbers stay spelled": {`{"id":9007199254740993,"x":1.50,"y":-0,"z":[1e3]}`,
			`{"id":9007199254740993,"x":1.50,"y":-0,"z":[1e3]}`},
		"other kinds":      {`{"a":null,"b":true,"c":[false]}`, `{"a":null,"b":true,"c":[false]}`},
		"known secrets go": {`{"x":["in hunter2-very-secret out"]}`, `{"x":["in [redacted] out"]}`},
		"secret members go": {`{"access_token":"abc","cookie":{"a":1}}`,
			`{"access_token":"[redacted]","cookie":"[redacted]"}`},
		"URLs lose their tail": {`{"u":"https://ann:pw@host.example/a/b?sig=1#x"}`, `{"u":"https://host.example/a/b"}`},
		"depth":                {`{"a":{"b":{"c":{"d":{"e":{"f":1}}}}}}`, `{"a":{"b":{"c":{"d":{"e":{"f":"[too deep]"}}}}}}`},
		"long text":            {`{"a":"` + strings.Repeat("é", 200) + `"}`, `{"a":"` + strings.Repeat("é", 150) + `"}`},
		"long list":            {`[` + strings.Repeat("1,", 40) + `1]`, `[` + strings.Repeat("1,", 31) + `1]`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(sanitize(r, jsontext.Value(c.in))); got != c.want {
				t.Errorf("sanitize = %s\nwant       %s", got, c.want)
			}
		})
	}
	if sanitize(r, nil) != nil {
		t.Error("nothing becomes something")
	}
}

// What is too large is replaced, and two different ones stay different.
func TestSanitizeBoundsTheWhole(t *testing.T) {
	large := func(last string) jsontext.Value {
		var members []string
		for i := range 39 {
			members = append(members, fmt.Sprintf(`"k%02d":%q`, i, strings.Repeat("x", 290)))
		}
		return jsontext.Value("{" + strings.Join(append(members, `"last":"`+last+`"`), ",") + "}")
	}
	a, b := sanitize(redact.New(), large("a")), sanitize(redact.New(), large("b"))
	if len(a) > 200 || !strings.Contains(string(a), `"truncated":true`) || !a.IsValid() {
		t.Errorf("sanitize = %s", a)
	}
	if string(a) == string(b) || string(a) != string(sanitize(redact.New(), large("a"))) {
		t.Errorf("the replacement does not tell them apart: %s, %s", a, b)
	}
}

func TestSanitizeIsBoundedAndStable(t *testing.T) {
	r := redact.New("hunter2-very-secret")
	leaf := rapid.OneOf(rapid.Just(`"hunter2-very-secret"`), rapid.Just(`12345678901234567890`), rapid.Just(`null`),
		rapid.Custom(func(t *rapid.T) string {
			b, _ := jsontext.AppendQuote(nil, rapid.String().Draw(t, "text"))
			return string(b)
		}))
	var value func(depth int) *rapid.Generator[string]
	value = func(depth int) *rapid.Generator[string] {
		if depth == 0 {
			return leaf
		}
		return rapid.OneOf(leaf, rapid.Custom(func(t *rapid.T) string {
			var parts []string
			for i, v := range rapid.SliceOfN(value(depth-1), 0, 4).Draw(t, "members") {
				parts = append(parts, fmt.Sprintf(`"m%d":%s`, i, v))
			}
			return "{" + strings.Join(parts, ",") + "}"
		}))
	}
	rapid.Check(t, func(t *rapid.T) {
		in := value(8).Draw(t, "value")
		once := sanitize(r, jsontext.Value(in))
		if !once.IsValid() || len(once) > maxDiagnosticBytes || strings.Contains(string(once), "hunter2-very-secret") {
			t.Fatalf("sanitize(%s) = %s", in, once)
		}
		if twice := sanitize(r, once); string(twice) != string(once) {
			t.Fatalf("sanitize is not stable: %s, then %s", once, twice)
		}
	})
}
