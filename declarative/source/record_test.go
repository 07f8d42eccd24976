package source

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/declarative/describe"
	"github.com/pdpp-go/pdpp/declarative/document"
)

func TestValuesAt(t *testing.T) {
	body := jsontext.Value(`{"data":{"lists":[{"items":[1,2]},{"items":[3]}],"map":{"b":{"x":1},"a":{"x":2}}}}`)
	for path, want := range map[string]string{
		"":                    string(body),
		"data/lists/0/items":  `[1,2]`,
		"data/lists/*/items":  `[1,2] [3]`,
		"data/map/*/x":        `1 2`,
		"data/lists/7/items":  ``,
		"data/lists/one":      ``,
		"data/map/none":       ``,
		"data/map/b/x/deeper": ``,
	} {
		var parts []string
		if path != "" {
			parts = strings.Split(path, "/")
		}
		var got []string
		for _, v := range valuesAt(body, parts) {
			got = append(got, string(v))
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}

func TestObjects(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*object) *object
		want   string
	}{
		"set a new member": {func(o *object) *object { o.setAt([]string{"new", "deep"}, jsontext.Value(`7`)); return o },
			`{"userName":"Siv","tags":["x","y"],"place":{"userName":"Lund","zip":1},"new":{"deep":7}}`},
		"set within an object": {func(o *object) *object { o.setAt([]string{"place", "zip"}, jsontext.Value(`2`)); return o },
			`{"userName":"Siv","tags":["x","y"],"place":{"userName":"Lund","zip":2}}`},
		"remove": {func(o *object) *object {
			o.removeAt([]string{"place", "*"}, func(v jsontext.Value) bool { return v.Kind() == '0' })
			return o
		}, `{"userName":"Siv","tags":["x","y"],"place":{"userName":"Lund"}}`},
		"snake case": {func(o *object) *object { return o.renamed(snakeCase) },
			`{"user_name":"Siv","tags":["x","y"],"place":{"user_name":"Lund","zip":1}}`},
		"flatten": {func(o *object) *object { return o.flattened(true) },
			`{"userName":"Siv","tags.0":"x","tags.1":"y","place.userName":"Lund","zip":1}`},
	} {
		o, err := decodeObject(jsontext.Value(`{"userName":"Siv","tags":["x","y"],"place":{"userName":"Lund","zip":1}}`))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, string(c.change(o).encode())); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestKeys(t *testing.T) {
	for text, want := range map[string]string{
		`{"id":"a","n":12345678901234567890}`: `["a","12345678901234567890"]`,
		`{"id":"","n":1}`:                     "",
		`{"id":"a"}`:                          "",
		`{"id":{"x":1},"n":1}`:                "",
	} {
		o, err := decodeObject(jsontext.Value(text))
		if err != nil {
			t.Fatal(err)
		}
		if key, ok := keyOf(o, []string{"id", "n"}); key != want || ok != (want != "") {
			t.Errorf("%s has the key %s, want %s", text, key, want)
		}
	}
}

func TestDigestIgnoresOrder(t *testing.T) {
	if digestOf(jsontext.Value(`{"a":1,"b":2}`)) != digestOf(jsontext.Value(`{ "b":2, "a":1}`)) {
		t.Error("the order of members changes the digest")
	}
	if digestOf(jsontext.Value(`{"a":1}`)) == digestOf(jsontext.Value(`{"a":2}`)) {
		t.Error("another value has the same digest")
	}
}

func TestSettings(t *testing.T) {
	env := map[string]string{"PDPP_X_COUNT": "12", "PDPP_X_NAME": "12", "PDPP_X_FLAG": "perhaps"}
	settings := []describe.Setting{
		{Path: []string{"name"}, Type: "string", Env: "PDPP_X_NAME"},
		{Path: []string{"page", "count"}, Type: "integer", Env: "PDPP_X_COUNT"},
		{Path: []string{"since"}, Type: "string", Env: "PDPP_X_SINCE",
			Default: &document.Node{Kind: document.Text, Text: "2026"}},
		{Path: []string{"unset"}, Type: "string", Env: "PDPP_X_UNSET"},
	}
	got, err := configOf(settings, func(name string) string { return env[name] })
	if diff := cmp.Diff(`{"name":"12","page":{"count":12},"since":"2026"}`, string(got)); diff != "" || err != nil {
		t.Error(diff, err)
	}
	settings = append(settings, describe.Setting{Path: []string{"flag"}, Type: "boolean", Env: "PDPP_X_FLAG"})
	if _, err = configOf(settings, func(name string) string { return env[name] }); err == nil ||
		strings.Contains(err.Error(), "perhaps") {
		t.Errorf("a setting of another type: %v", err)
	}
}
