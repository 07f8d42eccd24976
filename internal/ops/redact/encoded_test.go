package redact_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/ops/redact"
)

// encodings are the ways in which a program writes a value without meaning to hide it.
var encodings = map[string]func(before, secret, after string) (text, trace string){
	"base64":          inBase64(base64.StdEncoding),
	"base64 raw":      inBase64(base64.RawStdEncoding),
	"base64 url":      inBase64(base64.URLEncoding),
	"base64 raw url":  inBase64(base64.RawURLEncoding),
	"hex":             whole(func(s string) string { return hex.EncodeToString([]byte(s)) }),
	"HEX":             whole(func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) }),
	"hex dump":        whole(func(s string) string { return fmt.Sprintf("% x", s) }),
	"percent query":   whole(url.QueryEscape),
	"percent path":    whole(url.PathEscape),
	"percent all":     whole(func(s string) string { return eachByte(s, "%%%02X") }),
	"percent lower":   whole(func(s string) string { return eachByte(s, "%%%02x") }),
	"percent twice":   whole(func(s string) string { return url.QueryEscape(eachByte(s, "%%%02X")) }),
	"json":            whole(func(s string) string { b, _ := json.Marshal(s); return string(b[1 : len(b)-1]) }),
	"json unicode":    whole(func(s string) string { return eachByte(s, `\u%04x`) }),
	"backslash x":     whole(func(s string) string { return eachByte(s, `\x%02x`) }),
	"html":            whole(func(s string) string { return html.EscapeString(s) }),
	"base64, percent": whole(func(s string) string { return url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(s))) }),
}

func eachByte(s, form string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, form, s[i])
	}
	return b.String()
}

// whole encodes only the secret; its trace is that encoding.
func whole(encode func(string) string) func(before, secret, after string) (text, trace string) {
	return func(before, secret, after string) (string, string) {
		trace := encode(secret)
		return before + " " + trace + " " + after, trace
	}
}

// inBase64 encodes the secret together with its surroundings, as in user:password. Its trace is the part that depends
// only on the secret.
func inBase64(e *base64.Encoding) func(before, secret, after string) (text, trace string) {
	return func(before, secret, after string) (string, string) {
		text := e.EncodeToString([]byte(before + secret + after))
		return "Got " + text + " back", text[(len(before)*8+5)/6 : (len(before)+len(secret))*8/6]
	}
}

// A secret is removed in every common encoding and at every position.
func TestEncodedValuesNeverSurvive(t *testing.T) {
	for name, encode := range encodings {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				secret := rapid.StringMatching(`[A-Za-z0-9/+_<"&%?\\~-]{8,40}`).Draw(t, "secret")
				text, trace := encode(rapid.StringMatching(`[a-z ]{0,9}`).Draw(t, "before"), secret,
					rapid.StringMatching(`[a-z ]{0,9}`).Draw(t, "after"))
				for what, got := range map[string]string{"Known": redact.New(secret).Known(text),
					"Text": redact.New(secret).Text(text)} {
					if strings.Contains(got, trace) || !strings.Contains(got, redact.Mark) {
						t.Fatalf("%s: %q survives in %q", what, trace, got)
					}
				}
			})
		})
	}
}

// What is not a secret stays as it is, encoded or not.
func TestOthersStay(t *testing.T) {
	r := redact.New("hunter2-very-secret", "pear")
	for _, text := range []string{
		"", "GET /v1/items/aGVsbG8gd29ybGQ= took 3 s", "%20%zz \\u12 \\q &amp &#x; 0x68 6:8",
		"a path /usr/share/lib/peas and 68656c6c6f", "ünïcode \\u00e9 %C3%A9",
	} {
		if got := r.Known(text); got != text {
			t.Errorf("Known(%q) = %q", text, got)
		}
	}
}

func FuzzKnown(f *testing.F) {
	f.Add("aHVudGVyMi12ZXJ5LXNlY3JldA==", "hunter2-very-secret")
	f.Add("%68unter2\\u002dvery-secret", "hunter2-very-secret")
	f.Add("68 75 6e:74\n65%", "hunte")
	f.Fuzz(func(t *testing.T, text, secret string) {
		if len(secret) < 4 || strings.Contains(redact.Mark, secret) {
			return
		}
		got := redact.New(secret).Known(text + secret + text)
		if strings.Contains(got, secret) && !strings.Contains(text, redact.Mark) {
			t.Errorf("%q survives in %q", secret, got)
		}
	})
}

func BenchmarkText(b *testing.B) {
	line := strings.Repeat("fetched page 17 of https://api.example/v1/items?page=17 in 120ms; token "+
		"aGVsbG8gd29ybGQgaGVsbG8= ", 20)
	for _, n := range []int{0, 1, 5} {
		var values []string
		for i := range n {
			values = append(values, fmt.Sprintf("hunter%d-very-secret-%d", i, i))
		}
		r := redact.New(values...)
		b.Run(fmt.Sprintf("secrets=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				r.Text(line)
			}
		})
	}
}
