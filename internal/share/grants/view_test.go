package grants

import (
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Of any object exactly the granted and wanted fields are left, with their values.
func TestProjection(t *testing.T) {
	name := rapid.SampledFrom([]string{"id", "title", "bödy", `qu"ote`, "private", "", "Title", "a.b"})
	rapid.Check(t, func(t *rapid.T) {
		record := rapid.MapOf(name,
			rapid.SampledFrom([]any{"text", 1.5, nil, true, []any{"x"}, map[string]any{"private": "in"}})).Draw(t, "record")
		granted := rapid.SliceOfDistinct(name, rapid.ID).Draw(t, "granted")
		wanted := rapid.SliceOfDistinct(name, rapid.ID).Draw(t, "wanted")
		data, err := json.Marshal(record)
		if err != nil {
			t.Fatal(err)
		}
		out, err := StreamView{stream: Stream{Fields: granted}}.Project(data, wanted)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]any{}
		for field, value := range record {
			if (len(granted) == 0 || slices.Contains(granted, field)) && (len(wanted) == 0 || slices.Contains(wanted, field)) {
				want[field] = value
			}
		}
		canon, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if again, _ := json.Marshal(got); string(again) != string(canon) {
			t.Fatalf("%s projects to %s, want %s", data, out, canon)
		}
	})
}

// A name that is written in another way is the same name.
func TestProjectionReadsNames(t *testing.T) {
	v := StreamView{stream: Stream{Fields: []string{"id", "title"}}}
	for data, want := range map[string]string{
		`{"id":"1","\u0070rivate":"x","title":"t"}`: `{"id":"1","title":"t"}`,
		`{"\u0069d":"1","title" : {"private":1} }`:  `{"id":"1","title":{"private":1}}`,
		`{"private":{"id":"1"}}`:                    `{}`,
		`{"private":1,"private":2,"id":3}`:          `{"id":3}`,
	} {
		got, err := v.Project([]byte(data), nil)
		if err != nil || string(got) != want {
			t.Errorf("%s projects to %s (%v), want %s", data, got, err, want)
		}
	}
	for _, data := range []string{`[]`, `"id"`, `{`, `{"id":1`, `{"id":1,}`} {
		if got, err := v.Project([]byte(data), nil); err == nil {
			t.Errorf("%s projects to %s", data, got)
		}
	}
	if got, err := v.Project(nil, nil); err != nil || got != nil {
		t.Errorf("a deletion projects to %s, %v", got, err)
	}
}
