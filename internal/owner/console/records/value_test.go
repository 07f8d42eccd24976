package records

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

func TestAnyKeyFitsIntoAnAddress(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(),
			rapid.SampledFrom([]string{"", ".", "..", "a/b", "~x", "a%2Fb", "ü", "a b", "\x00"})).Draw(t, "key")
		part := ui.Segment(text)
		if part == "" || strings.Trim(part, ".") == "" || strings.ContainsAny(part, "/%?#\\ ") {
			t.Fatalf("%q became %q", text, part)
		}
		if back, err := ui.Unsegment(part); err != nil || back != text {
			t.Fatalf("%q became %q and then %q (%v)", text, part, back, err)
		}
	})
}

func FuzzMembers(f *testing.F) {
	for _, seed := range []string{`{"a":1,"b":[1,"x"],"c":{"d":null}}`, `[1]`, `"x"`, `{"a":`, ``,
		`{"u":"https://harbor.example/x"}`, strings.Repeat("[", 200)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, v := range members(data) {
			if utf8.RuneCountInString(v.Text) > longestText {
				t.Errorf("a value of %d bytes", len(v.Text))
			}
			if v.Kind == kindLink && !strings.HasPrefix(v.Text, "http") {
				t.Errorf("%q became a link", v.Text)
			}
		}
		history(api.Record{Data: data, Version: 2}, []api.Record{{Data: json.RawMessage(`{"a":1}`), Version: 1}})
	})
}

func TestValuesAreReadable(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]value{
		`null`:                           {Kind: kindNothing},
		`[]`:                             {Kind: kindNothing},
		`"a\nb"`:                         {Text: "a\nb"},
		`"2026-03-09T11:02:44Z"`:         {Kind: kindTime, Text: "2026-03-09T11:02:44Z"},
		`"https://harbor.example/a?b=c"`: {Kind: kindLink, Text: "https://harbor.example/a?b=c"},
		`"javascript:alert(1)"`:          {Text: "javascript:alert(1)"},
		`"https://x@harbor.example"`:     {Text: "https://x@harbor.example"},
		`"data:text/html,x"`:             {Text: "data:text/html,x"},
		`12.50`:                          {Text: "12.50"},
		`["a","b",3]`:                    {Text: "a, b, 3"},
		`{"a":{"b":1}}`:                  {Kind: kindJSON, Text: "{\n  \"a\": {\n    \"b\": 1\n  }\n}"},
	} {
		got := readable("", json.RawMessage(data))
		if got.Kind != want.Kind || got.Text != want.Text {
			t.Errorf("%s is shown as %d %q", data, got.Kind, got.Text)
		}
	}
}

// A record that is all brackets would fill the page with indentation.
func TestDeepJSONStaysSmall(t *testing.T) {
	t.Parallel()
	deep := json.RawMessage(strings.Repeat("[", 5000) + strings.Repeat("]", 5000))
	if n := len(indented(deep)); n > len(deep) {
		t.Errorf("%d bytes became %d", len(deep), n)
	}
}

func TestHistoryTellsWhatChanged(t *testing.T) {
	t.Parallel()
	steps := history(letter("a1", `{"title":"New","shelf":{"no":2,"side":"left"}}`, 3), []api.Record{
		letter("a1", `{"shelf":{"no":1,"side":"left"},"title":"New"}`, 2), letter("a1", ``, 1),
		letter("a1", `{"title":"Old"}`, 0),
	})
	var texts []string
	for _, s := range steps {
		texts = append(texts, s.Event)
	}
	if got, want := strings.Join(texts, "; "),
		"Shelf.no changed; Came back at the source; Removed at the source; the last copy is kept below; "+
			"First collected"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if c := steps[0].Changes; len(c) != 1 || c[0] != (change{"shelf.no", "1", "2"}) {
		t.Errorf("changes %v", c)
	}
}

func letter(key, data string, version int64) api.Record {
	return api.Record{ConnectionID: "cin_kelp_1", Stream: "letters", Key: key, Data: json.RawMessage(data),
		Version: version, Deleted: data == ""}
}
