package manifest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := validManifests.Draw(t, "manifest")
		text, err := m.JSON()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(text)
		if err != nil {
			t.Fatalf("Parse of %s: %v", text, err)
		}
		if !reflect.DeepEqual(again, m) {
			t.Fatalf("%s\nparses as %+v\nwant      %+v", text, again, m)
		}
		if !again.Equal(m) {
			t.Fatalf("%s\nis not equal to itself", text)
		}
	})
}

func TestJSONIsStable(t *testing.T) {
	first, err := parse(t, example(t)).JSON()
	if err != nil {
		t.Fatal(err)
	}
	second, err := parse(t, first).JSON()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) {
		t.Errorf("JSON changes on the way round:\n%s\n%s", first, second)
	}
	if !bytes.HasPrefix(first, []byte("{\n  \"protocol_version\": ")) {
		t.Errorf("JSON begins %.40q", first)
	}
}

func TestJSONOfWhatCannotBeEncoded(t *testing.T) {
	m := skeleton()
	m.Streams = []Stream{{Schema: json.RawMessage(`{`)}}
	if _, err := m.JSON(); err == nil {
		t.Error("a broken schema is encoded")
	}
	if m.Equal(m) {
		t.Error("a manifest that cannot be encoded equals itself")
	}
}

func TestEqual(t *testing.T) {
	a := parse(t, example(t))
	reordered := bytes.Replace(example(t), []byte(`{"letters": ["id"]}`), []byte(`{ "b": 1.0, "letters":["id"] }`), 1)
	other := bytes.Replace(example(t), []byte(`{"letters": ["id"]}`), []byte(`{"letters": ["id"], "b": 1.0}`), 1)
	if !parse(t, reordered).Equal(parse(t, other)) {
		t.Error("the order of keys matters")
	}
	if a.Equal(parse(t, other)) {
		t.Error("an added key does not matter")
	}
	empty := parse(t, example(t))
	empty.Streams[0].Query, a.Streams[0].Query = &Query{Filter: []string{}}, &Query{}
	if !a.Equal(empty) {
		t.Error("an empty list differs from an absent one")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(example(f))
	f.Add([]byte(`{"protocol_version":"0.1.0","connector_id":"x","version":"1","display_name":"X"}`))
	f.Add([]byte(`{"streams":[{"name":"a","primary_key":"id","schema":{"type":"object","multipleOf":1e999999999}}]}`))
	f.Add([]byte(`{"streams":[{"schema":{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/a"}}}},7,null]}`))
	seeds, err := filepath.Glob("testdata/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range seeds {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Parse(b)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without text")
			}
			return
		}
		text, err := m.JSON()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(text)
		if err != nil {
			t.Fatalf("own JSON is refused: %v\n%s", err, text)
		}
		if !again.Equal(m) {
			t.Fatalf("round trip changes %s", text)
		}
	})
}
