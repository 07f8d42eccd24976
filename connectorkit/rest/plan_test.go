package rest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/rest/internal/rawjson"
	"github.com/pdpp-go/pdpp/manifest"
)

// lampPlan compiles fields for a stream with a field of each type.
func lampPlan(t testing.TB, s Stream, key string) (*recordPlan, error) {
	t.Helper()
	return compilePlan(&manifest.Stream{Name: "lamps", PrimaryKey: strings.Fields(key), ConsentTimeField: "at",
		Schema: []byte(`{"type":"object","properties":{"id":{"type":"string"},"room":{"type":"string"},
			"at":{"type":"string"},"watts":{"type":"number"},"count":{"type":"integer"},"on":{"type":"boolean"},
			"tags":{"type":"array"},"maker":{"type":"object"},"note":{"type":["string","null"]},"any":{}}}`)}, &s)
}

// Each kind of field makes the value that its documentation describes. "!" is an item that cannot be read.
func TestFields(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fields Fields
		item   string
		want   string // besides the id
	}{
		"the same name": {nil, `{"watts":4.5,"count":3,"on":false,"tags":["a"],"maker":{"n":1},"any":[1,{}]}`,
			`"watts":4.5,"count":3,"on":false,"tags":["a"],"maker":{"n":1},"any":[1,{}]`},
		"null is absent":  {nil, `{"watts":null,"note":null}`, ``},
		"unknown members": {nil, `{"x":{"id":"other","tags":[]},"room":"hall"}`, `"room":"hall"`},
		"space is dropped": {nil, `{ "tags" : [ 1 , "a b" ] , "maker":{ "n" : 2.50 } }`,
			`"tags":[1,"a b"],"maker":{"n":2.5}`},
		"a name with an escape":   {nil, `{"r\u006fom":"hall"}`, `"room":"hall"`},
		"a long number":           {nil, `{"count":12345678901234567890}`, `"count":12345678901234567890`},
		"a whole fraction":        {nil, `{"count":5.0,"watts":60.0}`, `"count":5,"watts":60`},
		"more digits than floats": {nil, `{"watts":0.12345678901234567890}`, `"watts":0.12345678901234567890`},
		"a fraction":              {nil, `{"count":5.5}`, `!`},
		"text for a number":       {nil, `{"watts":"60"}`, `!`},
		"a number for text":       {nil, `{"room":7}`, `!`},
		"a list for an object":    {nil, `{"maker":[]}`, `!`},
		"an object for a list":    {nil, `{"tags":{}}`, `!`},
		"text for a flag":         {nil, `{"on":"true"}`, `!`},
		"another name":            {Fields{"room": From("where")}, `{"where":"hall","room":"no"}`, `"room":"hall"`},
		"a path":                  {Fields{"room": From("a.b.c")}, `{"a":{"b":{"c":"hall"}}}`, `"room":"hall"`},
		"a path through text":     {Fields{"room": From("a.b")}, `{"a":"b"}`, ``},
		"the first of two":        {Fields{"room": From("a", "b")}, `{"b":"hall"}`, `"room":"hall"`},
		"the first is null":       {Fields{"room": From("a", "b")}, `{"a":null,"b":"hall"}`, `"room":"hall"`},
		"the first is empty":      {Fields{"room": From("a", "b").NonEmpty()}, `{"a":"","b":"hall"}`, `"room":"hall"`},
		"empty text":              {Fields{"room": From("room").NonEmpty()}, `{"room":""}`, ``},
		"empty list":              {Fields{"tags": From("tags").NonEmpty()}, `{"tags":[ ]}`, ``},
		"empty object":            {Fields{"maker": From("maker").NonEmpty()}, `{"maker":{}}`, ``},
		"a default":               {Fields{"tags": From("tags").OrElse("[]")}, `{"tags":null}`, `"tags":[]`},
		"a number as text":        {Fields{"room": NumberText("n")}, `{"n":9007199254740993}`, `"room":"9007199254740993"`},
		"zero is no id":           {Fields{"room": NumberText("n")}, `{"n":0}`, ``},
		"a fraction as text":      {Fields{"room": NumberText("n")}, `{"n":1.5}`, `!`},
		"text as a number":        {Fields{"room": NumberText("n")}, `{"n":"7"}`, `!`},
		"of the partition":        {Fields{"room": FromPartition("room")}, `{}`, `"room":"h\"l"`},
		"of another partition":    {Fields{"room": FromPartition("house")}, `{}`, ``},
		"joined": {Fields{"room": Joined(":", FromPartition("room"), From("n"))},
			`{"n":7}`, `"room":"h\"l:7"`},
		"joined without a part": {Fields{"room": Joined(":", From("n"), From("m"))}, `{"n":7}`, ``},
		"joined with a list":    {Fields{"room": Joined(":", From("n"))}, `{"n":[]}`, ``},
		"a constant":            {Fields{"count": Constant("1")}, `{"count":2}`, `"count":1`},
		"members of elements": {Fields{"tags": Each("n", "a")}, `{"a":[{"n":"x"},{"n":""},{"n":null},{},{"n":"y"}]}`,
			`"tags":["x","y"]`},
		"elements of the second": {Fields{"tags": Each("n", "a", "b")}, `{"b":[{"n":"x"}]}`, `"tags":["x"]`},
		"elements of text":       {Fields{"tags": Each("n", "a")}, `{"a":"x"}`, `!`},
		"no elements":            {Fields{"tags": Each("n", "a").NonEmpty()}, `{"a":[]}`, ``},
		"a list of one":          {Fields{"tags": From("n").Listed()}, `{"n":"x"}`, `"tags":["x"]`},
		"translated": {Fields{"room": From("n").Translated(map[string]string{"A": "hall"})}, `{"n":"A"}`,
			`"room":"hall"`},
		"not translated": {Fields{"room": From("n").Translated(map[string]string{"A": "hall"})}, `{"n":"B"}`, ``},
		"another offset": {Fields{"room": From("n").UTC()}, `{"n":"2026-03-05T10:00:00+02:00"}`,
			`"room":"2026-03-05T08:00:00Z"`},
		"an offset without a colon": {Fields{"room": From("n").UTC()}, `{"n":"2026-03-05T10:00:00+0200"}`,
			`"room":"2026-03-05T08:00:00Z"`},
		"a time that is not set": {Fields{"room": From("n").UTC()}, `{"n":"0001-01-01T00:00:00Z"}`, ``},
		"UTC of no time":         {Fields{"room": From("n").UTC()}, `{"n":"today"}`, `!`},
		"seconds":                {Fields{"room": From("n").UnixTime()}, `{"n":1772704800}`, `"room":"2026-03-05T10:00:00Z"`},
		"no seconds":             {Fields{"room": From("n").UnixTime()}, `{"n":0}`, ``},
		"seconds in text":        {Fields{"room": From("n").UnixTime()}, `{"n":"7"}`, `!`},
		"objects of elements": {Fields{"tags": EachObject("a", map[string]string{"x": "n", "y": "m.o"})},
			`{"a":[{"n":1,"m":{"o":"p"},"q":2},{"n":null}]}`, `"tags":[{"x":1,"y":"p"},{}]`},
		"texts as elements": {Fields{"tags": Each("n", "a")}, `{"a":["x",{"n":"y"}]}`, `"tags":["x","y"]`},
		"none":              {Fields{"room": None()}, `{"room":"x"}`, ``},
		"a time": {Fields{"at": From("at").Time()}, `{"at":"2026-03-05T10:00:00+01:00"}`,
			`"at":"2026-03-05T10:00:00+01:00"`},
		"no time":           {Fields{"at": From("at").Time()}, `{"at":"yesterday"}`, `!`},
		"a time is missing": {Fields{"at": From("at").Time()}, `{}`, `!`},
		"a day":             {Fields{"at": From("at").Day()}, `{"at":"2026-02-30"}`, `!`},
		"computed": {Fields{"count": Computed(func(i Item) (jsontext.Value, error) {
			return jsontext.Value(fmt.Sprint(len(i.Raw))), nil
		})}, `{}`, `"count":11`},
		"not computed": {Fields{"count": Computed(func(Item) (jsontext.Value, error) { return nil, errKind })}, `{}`, `!`},
	} {
		p, err := lampPlan(t, Stream{Fields: c.fields}, "id")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		item := `{"id":"l1",` + strings.TrimPrefix(c.item, "{")
		if c.item == "{}" {
			item = `{"id":"l1"}`
		}
		for range 2 { // the second finds no trace of the first
			row := p.readItem(Item{Raw: jsontext.Value(item), Partition: Partition{Values: map[string]string{"room": `h"l`}}})
			got, err := recordOf(p, item)
			want := `{"id":"l1",` + c.want + `}`
			switch {
			case c.want == "!":
				if row.Key != "" || err == nil {
					t.Errorf("%s: is read as %s", name, got)
				}
			case err != nil || row.Key != "l1" || !equalMembers(got, []byte(strings.Replace(want, ",}", "}", 1))):
				t.Errorf("%s: %s, %v, want %s", name, got, err, want)
			}
		}
	}
}

// recordOf returns the encoded record of an item.
func recordOf(p *recordPlan, item string) ([]byte, error) {
	s := p.scratch.New().(*itemScan)
	s.item = Item{Raw: jsontext.Value(item), Partition: Partition{Values: map[string]string{"room": `h"l`}}}
	rawjson.EachMember(s.item.Raw, func(name, value []byte) bool {
		if slot, wanted := p.slots[string(name)]; wanted {
			s.slots[slot] = value
		}
		return true
	})
	_, err := p.readSlots(s)
	return s.buf, err
}

// equalMembers reports whether two objects have the same members with the same texts.
func equalMembers(a, b []byte) bool {
	members := func(v []byte) map[string]string {
		out := map[string]string{}
		rawjson.EachMember(v, func(name, value []byte) bool {
			out[string(name)] = string(value)
			return true
		})
		return out
	}
	return fmt.Sprint(members(a)) == fmt.Sprint(members(b))
}

// An item without a readable key is no record, whatever else it has. A report of a deletion needs only its key.
func TestKeys(t *testing.T) {
	t.Parallel()
	p, err := lampPlan(t, Stream{Deleted: Match{Path: "gone"}, Fields: Fields{"at": From("at").Time()}}, "id room")
	if err != nil {
		t.Fatal(err)
	}
	for item, want := range map[string]string{
		`{"id":"a","room":"b","at":"2026-03-05T10:00:00Z"}`:               "[\"a\",\"b\"] 2026-03-05T10:00:00Z false",
		`{"id":"a","room":"b","gone":true}`:                               "[\"a\",\"b\"]  true",
		`{"id":"a","room":"b","gone":true,"watts":"x"}`:                   "[\"a\",\"b\"]  true",
		`{"id":"a","room":"b","gone":"true","at":"2026-03-05T10:00:00Z"}`: "[\"a\",\"b\"] 2026-03-05T10:00:00Z false",
		`{"id":"a","gone":true}`:                                          "  false",
		`{"id":7,"room":"b","at":"2026-03-05T10:00:00Z"}`:                 "  false",
		`{"id":"","room":"b","at":"2026-03-05T10:00:00Z"}`:                "  false",
		`[]`: "  false", `null`: "  false", `7`: "  false", `"x"`: "  false", `{}`: "  false",
	} {
		row := p.readItem(Item{Raw: jsontext.Value(item)})
		if got := fmt.Sprint(row.Key, " ", row.Time, " ", row.Deleted); got != want {
			t.Errorf("%s: %s, want %s", item, got, want)
		}
	}
}

// A declaration that does not match the manifest is an error at once.
func TestWrongDeclarations(t *testing.T) {
	t.Parallel()
	if _, err := lampPlan(t, Stream{Fields: Fields{"colour": From("c")}}, "id"); err == nil {
		t.Error("a field outside the schema")
	}
	if _, err := lampPlan(t, Stream{Fields: Fields{"id": None()}}, "id"); err == nil {
		t.Error("a key without a field")
	}
	if _, err := New([]byte(rideManifest), Source{Streams: []Stream{{Name: "walks"}}}); err == nil {
		t.Error("a stream outside the manifest")
	}
}
