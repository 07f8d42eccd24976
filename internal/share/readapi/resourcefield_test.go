package readapi_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/share/grants"
)

// byFolder is the journal with notes that are chosen by their folder.
var byFolder = strings.Replace(journal, `"primary_key":"id","consent_time_field"`,
	`"primary_key":"id","selection":{"resources":true,"resource_field":"folder"},"consent_time_field"`, 1)

// A grant of one folder opens nothing of another, by whatever way it is asked for, and a
// later manifest that chooses by something else does not widen it.
func TestGrantByResourceField(t *testing.T) { onBoth(t, testGrantByResourceField) }

func testGrantByResourceField(t *testing.T, open opener) {
	w := newWorldOver(t, open(t))
	_, err := w.store.PutManifest(w.ctx(), "journal", []byte(byFolder), noon)
	check(t, err)
	w.furnish() // n1 is at home; n2 and n3 are away, as m1 of the other account
	home := grants.Stream{ConnectionID: "mine", Stream: "notes", Resources: []string{"home"}}
	hiding := home
	hiding.Fields = []string{"title", "body"}
	keys := grants.Stream{ConnectionID: "mine", Stream: "notes", Resources: []string{"n2"}} // a key is no folder
	tokens := map[string]string{"home": w.grant("", home), "hiding": w.grant("", hiding), "keys": w.grant("", keys)}
	attempts := []struct {
		grant, path string
		status      int
		want        string
	}{
		{"home", "/v1/streams/notes/records", 200, "n1"},
		{"home", "/v1/streams/notes/records?order=desc", 200, "n1"},
		{"home", "/v1/streams/notes/records?changes_since=beginning", 200, "n1"},
		{"home", "/v1/streams/notes/records?filter[folder]=away", 200, ""},
		{"home", "/v1/streams/notes/records?filter[private]=quokka", 200, ""},
		{"home", "/v1/streams/notes/records/n2", 404, "not_found"},
		{"home", "/v1/streams/notes/records/n1", 200, ""},
		{"home", "/v1/search?q=coast", 200, ""},
		{"home", "/v1/search?q=garden", 200, "n1"},
		{"hiding", "/v1/streams/notes/records", 200, "n1"},
		{"hiding", "/v1/streams/notes/records?filter[folder]=home", 403, "insufficient_scope"},
		{"hiding", "/v1/streams/notes/records?fields=folder", 403, "insufficient_scope"},
		{"hiding", "/v1/streams/notes/records?changes_since=beginning", 200, "n1"},
		{"hiding", "/v1/search?q=garden", 200, "n1"},
		{"keys", "/v1/streams/notes/records", 200, ""},
		{"keys", "/v1/streams/notes/records?changes_since=beginning", 200, ""},
		{"keys", "/v1/streams/notes/records/n2", 404, "not_found"},
		{"keys", "/v1/search?q=coast", 200, ""},
	}
	secrets := []string{"coast", "boots", "quokka", "narwhal", "ibex", "pangolin", "n2", "n3", "n4", "n5", "m1"}
	tryAll := func(when string) {
		for _, a := range attempts {
			got := w.ask(tokens[a.grant], a.path)
			message := got.code()
			if got.status == 200 && !strings.HasSuffix(a.path, "/n1") {
				message = got.page(t).ids()
			}
			if got.status != a.status || message != a.want {
				t.Errorf("%s: %s %s answers %d %q, want %d %q", when, a.grant, a.path, got.status, message, a.status, a.want)
			}
			for _, word := range secrets {
				if strings.Contains(cursor.ReplaceAllString(got.body, ""), word) {
					t.Errorf("%s: %s %s holds %q: %s", when, a.grant, a.path, word, got.body)
				}
			}
			if strings.Contains(got.body, `"folder"`) && a.grant == "hiding" {
				t.Errorf("%s: the field that is not granted is in %s", when, got.body)
			}
		}
		if got := w.ask(tokens["home"], "/v1/streams").body; !strings.Contains(got, `"record_count":null`) {
			t.Errorf("%s: a sum over all folders is in %s", when, got)
		}
	}
	tryAll("as granted")
	_, err = w.store.PutManifest(w.ctx(), "journal", []byte(journal), noon)
	check(t, err)
	tryAll("after a manifest that chooses by keys")
}

// A record that leaves the granted folder appears as deleted once, without a trace of where it went.
func TestRecordLeavesTheGrant(t *testing.T) { onBoth(t, testRecordLeavesTheGrant) }

func testRecordLeavesTheGrant(t *testing.T, open opener) {
	w := newWorldOver(t, open(t))
	_, err := w.store.PutManifest(w.ctx(), "journal", []byte(byFolder), noon)
	check(t, err)
	mine := w.connect("mine")
	put := func(key, title, folder string) {
		w.after(time.Minute)
		w.put(mine, note(key, at(2, 1), title, "x", "x", folder))
	}
	put("early", "one", "home")
	put("early", "two", "away") // before there is a grant
	put("a", "one", "home")
	put("b", "one", "home")
	token := w.grant("", grants.Stream{ConnectionID: "mine", Stream: "notes", Resources: []string{"home"}})
	follow := func(since string, limit string) page {
		t.Helper()
		got := w.ask(token, "/v1/streams/notes/records?limit="+limit+"&changes_since="+since)
		for _, word := range []string{"secret", "away", "early"} {
			if strings.Contains(cursor.ReplaceAllString(got.body, ""), word) {
				t.Errorf("the feed holds %q: %s", word, got.body)
			}
		}
		return got.page(t)
	}
	begun := follow("beginning", "100")
	if begun.ids() != "a b" {
		t.Fatalf("it begins with %s", begun.ids())
	}
	put("a", "secret one", "away")
	left := w.time()
	put("a", "secret two", "away")
	got := w.ask(token, "/v1/streams/notes/records?changes_since="+begun.Since)
	if got.page(t).ids() != "-a" || !strings.Contains(got.body, left.Format(time.RFC3339)) ||
		strings.Contains(got.body, "secret") {
		t.Errorf("the record that left: %s, want it at %s", got.body, left.Format(time.RFC3339))
	}
	known := got.page(t).Since
	put("a", "secret three", "away")
	if p := follow(known, "100"); p.ids() != "" {
		t.Errorf("what goes on elsewhere is told: %s", p.ids())
	}
	// Another reader, page by page, hears of it too, though the record moves on meanwhile.
	put("b", "two", "home")
	first := follow(begun.Since, "1")
	put("a", "secret four", "away")
	second := follow(first.Since, "1")
	if first.ids()+" "+second.ids() != "-a b" && first.ids()+" "+second.ids() != "b -a" {
		t.Errorf("in pages: %s, %s", first.ids(), second.ids())
	}
	put("a", "back", "home")
	if p := follow(known, "100"); p.ids() != "b a" {
		t.Errorf("what came back: %s", p.ids())
	}
	w.put(mine, gone("notes", "a"))
	if p := follow(known, "100"); p.ids() != "b -a" {
		t.Errorf("what was deleted: %s", p.ids())
	}
	if a := w.ask(token, "/v1/streams/notes/records/a"); a.status != 404 {
		t.Errorf("asked for by its key: %d", a.status)
	}
}
