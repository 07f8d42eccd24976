package readapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// entry is a note as the test itself remembers it.
type entry struct {
	connection, key string
	written         time.Time
	fields          map[string]string
	deleted         bool
}

var (
	folders   = []string{"home", "away"}
	vocabular = []string{"pear", "plum", "quince", "fig"}
	allFields = []string{"id", "title", "body", "private", "folder", "written_at"}
)

// library fills two accounts with notes, deletes some of them, and returns what it wrote.
func (w *world) library() []entry {
	var all []entry
	for n, connection := range []string{"mine", "other"} {
		var live, dead []slice.Record
		for i := range 24 {
			e := entry{connection: connection, key: fmt.Sprintf("k%02d", i), written: at(1, 1).AddDate(0, 0, i*5),
				deleted: i%7 == 3, fields: map[string]string{
					"title": vocabular[i%4], "body": vocabular[(i+n+1)%4], "private": vocabular[(i/2)%4], "folder": folders[i%2],
				}}
			live = append(live, note(e.key, e.written, e.fields["title"], e.fields["body"], e.fields["private"],
				e.fields["folder"]),
				letter(e.key, "pear plum quince fig"))
			if e.deleted {
				dead = append(dead, gone("notes", e.key))
			}
			all = append(all, e)
		}
		l := w.connect(connection)
		w.put(l, live...)
		w.put(l, dead...)
	}
	return all
}

// uncounted saves the writes of counting, of which there would be one for each page.
type uncounted struct{ store.Store }

func (uncounted) UseGrant(context.Context, string, string, int64, *store.GrantPage, time.Time,
	*store.AuditEntry) error {
	return nil
}

// covers reports, as the contract states it, whether a scope contains a note, and which fields.
func covers(scope grants.GrantedStreams, e entry) (fields []string, ok bool) {
	for _, s := range scope {
		switch {
		case s.Stream != "notes" || s.ConnectionID != e.connection:
		case len(s.Resources) > 0 && !slices.Contains(s.Resources, e.key):
		case s.Since != nil && e.written.Before(*s.Since):
		case s.Until != nil && !e.written.Before(*s.Until):
		case len(s.Fields) == 0:
			return allFields, true
		default:
			return append([]string{"id"}, s.Fields...), true
		}
	}
	return nil, false
}

func drawScope(t *rapid.T) grants.GrantedStreams {
	var scope grants.GrantedStreams
	for _, connection := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"mine", "other"}), 1, 2, rapid.ID).Draw(t,
		"connections") {
		s := grants.Stream{ConnectionID: connection, Stream: "notes"}
		s.Fields = rapid.SliceOfNDistinct(rapid.SampledFrom(allFields[1:]), 0, 4, rapid.ID).Draw(t, "fields")
		if rapid.Bool().Draw(t, "by key") {
			s.Resources = rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) string {
				return fmt.Sprintf("k%02d",
					rapid.IntRange(0, 25).Draw(t, "n"))
			}), 1, 12, rapid.ID).Draw(t, "resources")
		}
		day := rapid.Custom(func(t *rapid.T) *time.Time {
			return ptr(at(1, 1).AddDate(0, 0,
				rapid.IntRange(0, 60).Draw(t, "day")))
		})
		if rapid.Bool().Draw(t, "since") {
			s.Since = day.Draw(t, "from")
		}
		if rapid.Bool().Draw(t, "until") {
			s.Until = ptr(at(1, 1).AddDate(0, 0, rapid.IntRange(61, 120).Draw(t, "to")))
		}
		scope = append(scope, s)
	}
	return scope
}

// For random scopes and queries exactly what the scope covers comes out, with the
// fields that it has, by a check that shares no code with what is checked.
//
//pdpp:tier unraced
func TestOnlyTheScopeComesOut(t *testing.T) { onBoth(t, testOnlyTheScopeComesOut) }

func testOnlyTheScopeComesOut(t *testing.T, open opener) {
	w := newWorldOver(t, uncounted{open(t)})
	all := w.library()
	rapid.Check(t, func(t *rapid.T) {
		scope := drawScope(t)
		_, token, err := w.grants.Create(w.ctx(), grants.New{ClientName: "Reader", Scope: scope})
		check(w.t, err)
		limit := rapid.IntRange(3, 30).Draw(t, "limit")
		base := url.Values{"limit": {fmt.Sprint(limit)}}
		path, more, keep := "/v1/streams/notes/records", "cursor", func(e entry) bool { return !e.deleted }
		switch rapid.SampledFrom([]string{"records", "filter", "changes", "search"}).Draw(t, "kind") {
		case "filter":
			field := rapid.SampledFrom([]string{"folder", "private"}).Draw(t, "field")
			value := rapid.SampledFrom(append(folders, vocabular...)).Draw(t, "value")
			base.Set("filter["+field+"]", value)
			keep = func(e entry) bool { return !e.deleted && e.fields[field] == value }
			if slices.ContainsFunc(scope,
				func(s grants.Stream) bool { return len(s.Fields) > 0 && !slices.Contains(s.Fields, field) }) {
				refused(t, w, token, path, base)
				return
			}
		case "changes":
			base.Set("changes_since", "beginning")
			more, keep = "changes_since", func(entry) bool { return true }
		case "search":
			word := rapid.SampledFrom(vocabular).Draw(t, "word")
			base.Set("q", word)
			path = "/v1/search"
			searchable := slices.DeleteFunc(slices.Clone(scope), func(s grants.Stream) bool {
				return len(s.Fields) > 0 && (!slices.Contains(s.Fields, "title") || !slices.Contains(s.Fields, "body"))
			})
			if len(searchable) == 0 {
				refused(t, w, token, path, base)
				return
			}
			scope = searchable
			keep = func(e entry) bool { return !e.deleted && (e.fields["title"] == word || e.fields["body"] == word) }
		}
		want := map[string][]string{}
		for _, e := range all {
			if fields, ok := covers(scope, e); ok && keep(e) {
				if e.deleted {
					fields = nil
				}
				slices.Sort(fields)
				want[e.connection+"/"+e.key] = slices.Compact(fields)
			}
		}
		got := map[string][]string{}
		for rest := true; rest; {
			p := w.ask(token, path+"?"+base.Encode()).page(w.t)
			for _, r := range p.Data {
				name := r.Connection + "/" + r.ID
				if _, twice := got[name]; twice || r.Stream != "notes" {
					t.Fatalf("%s of %s comes twice or from elsewhere", name, r.Stream)
				}
				got[name] = slices.Sorted(maps.Keys(r.Data))
			}
			if rest = p.HasMore; rest {
				base.Set(more, p.Next+p.Since)
			}
		}
		if !maps.EqualFunc(got, want, slices.Equal) {
			t.Fatalf("scope %s\ngot  %v\nwant %v", asJSON(scope), got, want)
		}
	})
}

func refused(t *rapid.T, w *world, token, path string, q url.Values) {
	if a := w.ask(token, path+"?"+q.Encode()); a.code() != grants.CodeInsufficientScope {
		t.Fatalf("answered %d %s", a.status, a.body)
	}
}

func asJSON(v any) string { b, _ := json.Marshal(v); return string(b) }

// Reading a stream once in random pages returns what was there when it began, whatever is written meanwhile.
func TestSingleUseReadsOneMoment(t *testing.T) {
	w := newWorld(t)
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		mine, stored := fmt.Sprint("account", round), 0
		l := w.connect(mine)
		write := func() {
			var records []slice.Record
			for range rapid.IntRange(0, 5).Draw(t, "writes") {
				records = append(records, note(fmt.Sprintf("k%04d", stored), at(1, 1), "t", "b", "p", "f"))
				stored++
			}
			w.put(l, records...)
		}
		write()
		want := stored
		token := w.grant(store.GrantSingleUse, grants.Stream{ConnectionID: mine, Stream: "notes"})
		path, got := "/v1/streams/notes/records?limit=2", 0
		for from := path; from != ""; {
			p := w.ask(token, from).page(w.t)
			got += len(p.Data)
			write()
			if from = ""; p.HasMore {
				from = path + "&cursor=" + p.Next
			}
		}
		if got != want {
			t.Fatalf("read %d of %d", got, want)
		}
		if a := w.ask(token, path); a.code() != grants.CodeGrantConsumed || strings.Contains(a.body, `"data"`) {
			t.Fatalf("again: %d %s", a.status, a.body)
		}
	})
}
