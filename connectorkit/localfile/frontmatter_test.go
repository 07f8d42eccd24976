package localfile

import (
	"encoding/json"
	"testing"
)

func TestFrontMatter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, content, head, body string }{
		{"none", "# Title\ntext", "null", "# Title\ntext"},
		{"usual", "---\nname: tidy\ndescription: \"Puts: things away\"\ntools: [a, b]\n---\n\nDo it.\n",
			`{"description":"Puts: things away","name":"tidy","tools":["a","b"]}`, "Do it.\n"},
		{"crlf and bom", "\xef\xbb\xbf---\r\nname: x\r\n---\r\nbody", `{"name":"x"}`, "body"},
		{"nothing behind", "---\nname: x\n---", `{"name":"x"}`, ""},
		{"not closed", "---\nname: x\n", "null", "---\nname: x\n"},
		{"not YAML", "---\n\t: {\n---\nbody", "null", "---\n\t: {\n---\nbody"},
		{"a list", "---\n- a\n---\nbody", "null", "---\n- a\n---\nbody"},
		{"what JSON has not", "---\n1: a\nat: 2026-03-01\nn: .nan\nin: {2: b}\n---\n",
			`{"1":"a","at":"2026-03-01T00:00:00Z","in":{"2":"b"},"n":"NaN"}`, ""},
		{"a rule, no head", "---\n\ntext\n\n---\n", "null", "---\n\ntext\n\n---\n"},
	} {
		head, body := FrontMatter([]byte(c.content))
		got, err := json.Marshal(head)
		if err != nil || string(got) != c.head || body != c.body {
			t.Errorf("%s: %s %q (%v), want %s %q", c.name, got, body, err, c.head, c.body)
		}
	}
}

// TestEarlier compares times of every form by the moment that they mean, not by their text.
func TestEarlier(t *testing.T) {
	const noon = "2026-03-01T12:00:00Z"
	for _, later := range []string{"2026-03-01T12:00:01Z", "2026-03-01T12:00:00.5Z", "2026-03-01T11:30:00-01:00"} {
		if !TimeIsEarlier(noon, later) || TimeIsEarlier(later, noon) || TimeIsEarlier(later, later) {
			t.Errorf("%s is not later than %s", later, noon)
		}
	}
	if TimeIsEarlier("", noon) || TimeIsEarlier(noon, "") {
		t.Error("no time is compared")
	}
}
