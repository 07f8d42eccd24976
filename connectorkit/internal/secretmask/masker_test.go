package secretmask

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// The texts are put together here, so that no tool takes this file for one with secrets.
var (
	a20 = "a1B2c3D4e5F6g7H8i9J0"
	a36 = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
	pem = "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEpAIBAAKCAQEA" + a36 + "\n" + a36 + "\n-----END RSA " +
		"PRIVATE KEY-----"
	jwt = "eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiJtYXJhIn0." + a20
)

var marks = regexp.MustCompile(`\[redacted:([a-z_]+):[0-9a-f]{8}\]`)

// TestMask holds what must be replaced, and what must survive.
func TestMask(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want string // with marks shortened to <kind>; empty means unchanged
	}{
		{"key sk-" + "ant-api03-" + a36 + " end", "key <anthropic> end"},
		{"sk-" + "proj-" + a36, "<openai>"},
		{"line\nsk-" + a36 + "\ttab", "line\n<model>\ttab"},
		{"\"sk-" + a36 + "\"", "\"<model>\""},
		{"ü" + "sk-" + a36, "ü<model>"},
		{"\u2028sk-" + a36, "\u2028<model>"},
		{"AKIA" + "ABCDEFGH12345678", "<aws>"},
		{"AIza" + a36[:35], "<google>"},
		{"ghp_" + a36 + " gho_" + a36, "<github> <github>"},
		{"github_pat_" + a20 + "_" + a36, "<github>"},
		{"glpat-" + a20, "<gitlab>"},
		{"xoxb-" + "1234567890-" + a20, "<slack>"},
		{"sk_live_" + a20, "<stripe>"},
		{"hf_" + a36, "<huggingface>"},
		{"npm_" + a36, "<npm>"},
		{"before\n" + pem + "\nafter", "before\n<private_key>\nafter"},
		{"cut " + pem[:90], "cut <private_key>"},
		{"token " + jwt + ".", "token <jwt>."},
		{"Authorization: Bearer " + a20, "Authorization: Bearer <authorization>"},
		{`{"authorization":"Basic bWFyYTpzZWNyZXQ1"}`, `{"authorization":"Basic <authorization>"}`},
		{"-H 'Authorization: token " + a20 + "'", "-H 'Authorization: token <authorization>'"},
		{"AUTHORIZATION=" + a20, "AUTHORIZATION=<authorization>"},
		{"postgres://mara:tides-at-noon@db.example/x", "postgres://mara:<password>@db.example/x"},
		{"https://:pa55@host", "https://:<password>@host"},
		{"out\nghp_a1B2c3\n[cut: 9000 bytes, sha256 00]", "out\n<github>\n[cut: 9000 bytes, sha256 00]"},

		{"x\npm_" + a36 + "\rk_live_" + a20, ""},
		{"a task-management-system-with-many-words-12", ""},
		{"the sk-learn-like-name-of-a-package-here", ""},
		{"desk-" + a36, ""},
		{"sk- alone, sk-short1", ""},
		{"AKIA is how such keys begin; AKIAabc", ""},
		{"ghp_ stands for a token", ""},
		{"eyJust a word, and eyJhbGciOi", ""},
		{"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", ""},
		{"-----BEGIN PUBLIC KEY-----\nMIIB", ""},
		{"Authorization: required for all routes", ""},
		{"Authorization is a header; Bearer tokens go there", ""},
		{"http://localhost:8080/path@2x.png and http://host:80", ""},
		{"https://mara@example.com/x ftp://example.com:21", ""},
		{"mail mara@harbour.example, call +44 20 7946 0958", ""},
		{"commit 3f786850e387550fdab836ed7e6dc881de23001b", ""},
		{"9f2c1c1e-0000-4000-8000-000000000001 toolu_01" + a20, ""},
	} {
		raw, err := json.Marshal(map[string]string{"text": c.text})
		if err != nil {
			t.Fatal(err)
		}
		clean, n := NewMasker([]byte("key"), false).maskShapes(raw)
		var got map[string]string
		if err := json.Unmarshal(clean, &got); err != nil {
			t.Errorf("%q becomes %s: %v", c.text, clean, err)
			continue
		}
		want := c.want
		if want == "" {
			want = c.text
		}
		if short := marks.ReplaceAllString(got["text"], "<$1>"); short != want ||
			n != len(marks.FindAllString(got["text"], -1)) {
			t.Errorf("%q becomes %q (%d), want %q", c.text, short, n, want)
		}
	}
}

// TestMaskTags holds that equal secrets are marked alike within a source and unlike in
// another, and what strict takes beyond.
func TestMaskTags(t *testing.T) {
	t.Parallel()
	mask := func(key, text string) string {
		raw, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		clean, _ := NewMasker([]byte(key), false).maskShapes(raw)
		return string(clean)
	}
	one := mask("a", "ghp_"+a36)
	if one != mask("a", "ghp_"+a36) || one == mask("b", "ghp_"+a36) || one == mask("a", "ghp_"+a36+"9") {
		t.Errorf("tags %s", one)
	}
	raw := `{"id":"` + a36 + `","text":"mara@harbour.example +442079460958 ` + a36 +
		` plain words /usr/share/doc/some/long/path/name1234 9f2c1c1e-0000-4000-8000-000000000001"}`
	clean, n, err := NewMasker(nil, true).maskMembers([]byte(raw))
	want := `{"id":"` + a36 + `","text":"<email> <phone> <random> ` +
		`plain words /usr/share/doc/some/long/path/name1234 9f2c1c1e-0000-4000-8000-000000000001"}`
	if got := marks.ReplaceAllString(string(clean), "<$1>"); err != nil || n != 3 || got != want {
		t.Errorf("strict: %s (%d, %v)", got, n, err)
	}
}

// everyByte masks without the scanner: it looks for a secret at every byte.
func everyByte(m *Masker, raw []byte) (string, int) {
	var out []byte
	count, kept := 0, 0
	for i := 0; i+1 < len(raw); i++ {
		if kind, from, to := m.scanner.findSecret(raw, i); kind != "" && from >= kept {
			out = append(append(out, raw[kept:from]...), m.replacementFor(kind, raw[from:to])...)
			count++
			kept, i = to, to-1
		}
	}
	return string(append(out, raw[kept:]...)), count
}

// TestMaskAtEveryPlace holds that nothing is passed over, wherever between two looks it begins.
func TestMaskAtEveryPlace(t *testing.T) {
	t.Parallel()
	m := NewMasker([]byte("key"), false)
	var secrets []string
	for _, k := range secretKinds[:len(secretKinds)-4] {
		secrets = append(secrets, k.prefix+strings.Repeat("A1", 25), k.prefix+"B0B0B0B0B0A1\\n[cut: 9 bytes]")
	}
	secrets = append(secrets, jwt, strings.ReplaceAll(pem, "\n", `\n`), "a://b:"+a20+"@c", "AUTHORIZATION="+a20,
		"authorization: bearer "+a20)
	for _, secret := range secrets {
		for shift := range 16 {
			for _, tail := range []string{"", " and more of the same plain words"} {
				raw := []byte(`"` + strings.Repeat(" ", shift) + secret + tail + `"`)
				got, n := m.maskShapes(raw)
				if want, count := everyByte(m, raw); string(got) != want || n != count || n == 0 {
					t.Fatalf("%s: %d become %s\nevery byte: %d, %s", raw, n, got, count, want)
				}
			}
		}
	}
}

// FuzzMask holds that JSON stays JSON with the same shape, whatever it holds, and that nothing is
// passed over.
func FuzzMask(f *testing.F) {
	for _, s := range secretKinds {
		f.Add("a "+s.prefix+strings.Repeat("A1", 25), "other")
		f.Add(s.prefix+"B0B0\n[cut: 9 bytes]", s.prefix[1:])
	}
	for _, seed := range []string{pem, jwt, "Authorization: Bearer " + a20, "a://b:c@d", `\"sk-` + a36, "ghp_" + a36,
		"-----BEGIN PRIVATE KEY", "\npm_" + a36, "&000000000000000Aa0A0a0A", "\rk_live_" + a36,
		"\x1authorization: bearer " + a20, "auThorIZation=" + a20, "AUTHORiZatioN=" + a20, "a://:b@", "\x1dop_v1_" + a36,
		"\x1eyJhbGciOiJIUzI1NiJ9", "----------"} {
		f.Add(seed, "other")
		f.Add("", strings.Repeat("-", 30)+seed)
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		raw, err := json.Marshal([]string{one, two})
		if err != nil {
			return
		}
		for _, strict := range []bool{false, true} {
			m := NewMasker([]byte("k"), strict)
			clean, n := m.maskShapes(raw)
			if every, count := everyByte(m, raw); string(clean) != every || n != count {
				t.Fatalf("%s becomes %s, and looked at byte by byte %s", raw, clean, every)
			}
			if strict {
				clean, n = m.maskRandomWords(clean)
			}
			var got []string
			if err := json.Unmarshal(clean, &got); err != nil || len(got) != 2 {
				t.Fatalf("%s becomes %s: %v", raw, clean, err)
			}
			if n == 0 && string(clean) != string(raw) && !strict {
				t.Fatalf("%s changed without a mark", raw)
			}
		}
	})
}

// TestScannerMarks checks that marks are met in the order of the prefixes that they belong to, and that one mark
// leads to one beginning: no prefix lies within another behind its beginning, and two prefixes with a mark in the
// same place differ.
func TestScannerMarks(t *testing.T) {
	t.Parallel()
	s := sharedScanner()
	met := map[string]int{}
	for _, marks := range s.marks {
		for i, one := range marks {
			met[one.kind.prefix]++
			for _, other := range marks[:i] {
				if one.at < other.at {
					one, other = other, one
				}
				behind := one.kind.prefix[one.at-other.at:]
				if n := min(len(behind), len(other.kind.prefix)); one.at != other.at &&
					strings.EqualFold(behind[:n], other.kind.prefix[:n]) {
					t.Errorf("%q and %q can be in the same place", one.kind.prefix, other.kind.prefix)
				}
			}
		}
	}
	for _, one := range secretKinds {
		for _, other := range secretKinds {
			if strings.Contains(strings.ToLower(other.prefix[1:]), strings.ToLower(one.prefix)) {
				t.Errorf("%q lies within %q", one.prefix, other.prefix)
			}
		}
		if met[one.prefix] < scanStride {
			t.Errorf("%q has %d marks", one.prefix, met[one.prefix])
		}
	}
	if len(s.marks) > 1<<8 {
		t.Errorf("%d lists of marks", len(s.marks))
	}
}

// BenchmarkMask measures texts without secrets, which nearly all are: prose and program text as JSON strings of 2 kB.
func BenchmarkMask(b *testing.B) {
	for name, file := range map[string]string{
		"prose": "../../../docs/extend/protocol/README.md", "program": "../../errors.go",
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		var records []jsontext.Value
		for part := range slices.Chunk([]rune(string(text)), 2000) {
			raw, err := json.Marshal(string(part))
			if err != nil {
				b.Fatal(err)
			}
			records = append(records, raw)
		}
		b.Run(name, func(b *testing.B) {
			m := NewMasker([]byte("key"), false)
			n := 0
			for b.Loop() {
				raw := records[n%len(records)]
				m.maskShapes(raw)
				b.SetBytes(int64(len(raw)))
				n++
			}
		})
	}
}
