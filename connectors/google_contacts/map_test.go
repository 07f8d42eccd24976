package googlecontacts

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// FuzzPerson shows that any input for a person becomes a valid record, a deletion or an unreadable item.
func FuzzPerson(f *testing.F) {
	for _, text := range []string{
		`{"resourceName":"people/c1","metadata":{"deleted":true}}`,
		`{"resourceName":"people/c1","names":[{"displayName":"Siv"}],"birthdays":[{"date":{"year":1980,"month":4,"day":7}` +
			`},{"text":"spring"}],"metadata":{"sources":[{"updateTime":"2026-03-05T10:00:00Z"}]}}`,
		`{"resourceName":"people/c1","emailAddresses":[{"value":" "},{"value":"a@b","metadata":{"primary":true}}],` +
			`"addresses":[{},{"city":"Lund","metadata":{"primary":true}}],"memberships":[{"domainMembership":{}}]}`,
		`{"resourceName":7}`, `{"resourceName":"people/c2","events":[{"date":{"month":13}}],"imClients":[{"username":"x"}` +
			`],"userDefined":[{"key":"a","value":"b"}]}`,
	} {
		f.Add([]byte(text))
	}
	validate := Connector().Validate
	f.Fuzz(func(t *testing.T, raw []byte) {
		if jsontext.Value(raw).Kind() != '{' || !jsontext.Value(raw).IsValid() {
			return
		}
		got := readPerson(raw, nil)
		if got.Key == "" || got.Deleted {
			if got.Key == "" && got.Deleted {
				t.Error("somebody without a name was deleted")
			}
			return
		}
		var w wirePerson
		if err := json.Unmarshal(raw, &w); err != nil {
			t.Fatalf("what cannot be read was read: %v", err)
		}
		r := w.toRecord()
		r.UpdatedAt = "" // whether it is a time is judged when it is emitted
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var tree map[string]any
		if err := json.Unmarshal(text, &tree); err != nil {
			t.Fatal(err)
		}
		if err := validate("contacts", tree); err != nil {
			t.Errorf("%v: %s", err, text)
		}
	})
}

// A date is spelled with what is known of it, and one of several entries is the preferred one.
func TestPerson(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]*partialDate{"2011-06-18": {2011, 6, 18}, "--04-07": {0, 4, 7}, "": {2011, 0, 0}} {
		if got := d.spellDate(); got != want {
			t.Errorf("%+v is %q", d, got)
		}
	}
	var w wirePerson
	if err := json.Unmarshal([]byte(`{"resourceName":"people/c1","phoneNumbers":[{"value":"1"},{"value":"2",`+
		`"metadata":{"primary":true}}]}`), &w); err != nil {
		t.Fatal(err)
	}
	if r := w.toRecord(); len(r.Phones) != 2 || r.Phones[0].Preferred || !r.Phones[1].Preferred || r.FullName != "1" {
		t.Errorf("%+v", r)
	}
}
