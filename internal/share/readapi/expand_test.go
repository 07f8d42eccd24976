package readapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// library fills a book: each entry has a person, and as many pages as its number.
func (b *book) pages() {
	var all []slice.Record
	for i := range 5 {
		all = append(all, made("entries", fmt.Sprint("e", i), at(1, 1+i),
			map[string]any{"text": "pear", "person_id": fmt.Sprint("p", i%2), "secret": "fig"}))
		for n := range i * 2 {
			all = append(all, made("pages", fmt.Sprintf("e%d-%d", i, n), at(2, 1+n),
				map[string]any{"entry_id": fmt.Sprint("e", i), "body": "long"}))
		}
	}
	all = append(all, made("people", "p0", time.Time{}, map[string]any{"name": "Ann", "phone": "1"}))
	b.whole(at(3, 20), all...)
}

// relatedTo returns the related records of each record of an answer: r1:name=k1,k2+ where a plus means that there are
// more.
func (a answer) beside(t testing.TB) string {
	t.Helper()
	if a.status != 200 {
		return fmt.Sprint(a.status, " ", a.code())
	}
	type record struct {
		ID       string
		Expanded []struct {
			Name string
			Data []struct{ ID string }
			More bool `json:"has_more"`
		}
	}
	var body struct {
		record
		Data json.RawMessage
	}
	check(t, json.Unmarshal([]byte(a.body), &body))
	var list []record
	if json.Unmarshal(body.Data, &list) != nil {
		list = []record{body.record}
	}
	var out []string
	for _, r := range list {
		text := r.ID
		for _, e := range r.Expanded {
			var keys []string
			for _, d := range e.Data {
				keys = append(keys, d.ID)
			}
			text += ":" + e.Name + "=" + strings.Join(keys, ",")
			if e.More {
				text += "+"
			}
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

// Records come with those that belong to them, in both directions, within the limits of the
// connector and of the grant.
func TestExpand(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, open opener) {
		b := newWorldOver(t, open(t)).book("mine")
		b.pages()
		owner, all := b.owner(), b.grant("", b.scope("entries"), b.scope("pages"), b.scope("people"))
		early := b.grant("", b.scope("entries"), func() grants.Stream {
			s := b.scope("pages")
			s.Until = ptr(time.Date(2026, 2, 3, 0, 0, 0, 0, time.UTC))
			return s
		}())
		const entries = "/v1/streams/entries/records"
		const pages = "e0:pages= e1:pages=e1-0,e1-1 e2:pages=e2-0,e2-1,e2-2+ e3:pages=e3-0,e3-1,e3-2+ " +
			"e4:pages=e4-0,e4-1,e4-2+"
		for _, tt := range []struct{ token, path, want string }{
			{owner, entries + "?expand=pages", pages},
			{all, entries + "?expand=pages", pages},
			{all, entries + "?expand=pages&fields=text", pages},
			{all, entries + "?expand=person", "e0:person=p0 e1:person= e2:person=p0 e3:person= e4:person=p0"},
			{all, entries + "?expand=person&fields=text", "e0:person=p0 e1:person= e2:person=p0 e3:person= e4:person=p0"},
			{all, entries + "?expand=pages,person&limit=1&order=desc", "e4:pages=e4-0,e4-1,e4-2+:person=p0"},
			{all, entries + "?expand=pages&expand_limit=1&limit=2", "e0:pages= e1:pages=e1-0+"},
			{all, entries + "?expand=pages&expand_limit=100&order=desc&limit=1", "e4:pages=e4-0,e4-1,e4-2,e4-3,e4-4+"},
			{all, entries + "/e1?expand=pages", "e1:pages=e1-0,e1-1"},
			{all, "/v1/streams/pages/records?expand=entry&limit=3", "e1-0:entry=e1 e1-1:entry=e1 e2-0:entry=e2"},
			{early, entries + "?expand=pages",
				"e0:pages= e1:pages=e1-0,e1-1 e2:pages=e2-0,e2-1 e3:pages=e3-0,e3-1 e4:pages=e4-0,e4-1"},
			{early, entries + "?expand=person", "403 insufficient_scope"},
			{all, entries + "?expand=hushed", "400 invalid_request"},
			{all, entries + "?expand=nobody", "400 invalid_request"},
			{all, "/v1/streams/people/records?expand=pages", "400 invalid_request"},
			{all, entries + "?expand=", "400 invalid_request"},
			{all, entries + "?expand=pages,pages", "400 invalid_request"},
			{all, entries + "?expand=a,b,c,d,e,f", "400 invalid_request"},
			{all, entries + "?expand=pages&expand_limit=0", "400 invalid_request"},
			{all, entries + "?expand=pages&expand_limit=101", "400 invalid_request"},
			{all, entries + "?expand_limit=3", "400 invalid_request"},
			{all, entries + "?expand=pages&changes_since=beginning", "400 invalid_request"},
			{all, "/v1/search?q=pear&expand=pages", "400 invalid_request"},
			{b.grant(store.GrantSingleUse, b.scope("entries"), b.scope("pages")), entries + "?expand=pages",
				"403 insufficient_scope"},
		} {
			if got := b.ask(tt.token, tt.path).beside(t); got != tt.want {
				t.Errorf("%s\ngives %s\nwant  %s", tt.path, got, tt.want)
			}
		}
		if a := b.ask(all, entries+"?expand=pages,person&limit=1"); strings.Count(a.body, `"whole":"yes"`) != 3 {
			t.Errorf("what stands beside is not told of: %s", a.body)
		}
	})
}

// Related records have only granted fields, and a field that is hidden on either side cannot be followed.
func TestExpandTellsNothingHidden(t *testing.T) {
	t.Parallel()
	b := newWorld(t).book("mine")
	b.pages()
	with := func(s grants.Stream, fields ...string) grants.Stream { s.Fields = fields; return s }
	named := b.grant("", b.scope("entries"), with(b.scope("people"), "name"))
	if a := b.ask(named, "/v1/streams/entries/records/e0?expand=person"); !strings.Contains(a.body,
		`{"id":"p0","name":"Ann"}`) || strings.Contains(a.body, "phone") {
		t.Errorf("beside it stands %s", a.body)
	}
	chosen := b.scope("people")
	chosen.Resources = []string{"p1"}
	if got := b.ask(b.grant("", b.scope("entries"), chosen),
		"/v1/streams/entries/records/e0?expand=person").beside(t); got != "e0:person=" {
		t.Errorf("a person that was not granted: %s", got)
	}
	for name, tt := range map[string]struct {
		scope grants.GrantedStreams
		path  string
	}{
		"own field hidden": {grants.GrantedStreams{with(b.scope("entries"), "text"), b.scope("people")},
			"/v1/streams/entries/records?expand=person"},
		"other field hidden": {grants.GrantedStreams{b.scope("entries"), with(b.scope("pages"), "body")},
			"/v1/streams/entries/records?expand=pages"},
		"other stream hidden": {grants.GrantedStreams{b.scope("entries")}, "/v1/streams/entries/records?expand=pages"},
		"hidden from the child": {grants.GrantedStreams{with(b.scope("pages"), "body"), b.scope("entries")},
			"/v1/streams/pages/records?expand=entry"},
	} {
		token := b.grant("", tt.scope...)
		if a := b.ask(token, tt.path); a.code() != grants.CodeInsufficientScope {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
		if a := b.ask(token, "/v1/schema"); strings.Contains(a.body, "expandable") && name != "hidden from the child" {
			t.Errorf("%s: the schema offers it: %s", name, a.body)
		}
	}
	if a := b.ask(b.owner(), "/v1/streams/entries"); !strings.Contains(
		a.body,
		`"expandable":[{"name":"person","stream":"people","many":false,"default_limit":1,"max_limit":1},{"name":"pages",`+
			`"stream":"pages","many":true,"default_limit":3,"max_limit":5}]`,
	) {
		t.Errorf("the schema says %s", a.body)
	}
}

// counting counts the reads of records.
type counting struct {
	store.Store
	lists, related atomic.Int64
}

func (c *counting) ListRecords(ctx context.Context, q store.RecordQuery) ([]store.StoredRecord, error) {
	c.lists.Add(1)
	return c.Store.ListRecords(ctx, q)
}

func (c *counting) Related(ctx context.Context, q store.RelatedQuery) (store.Related, error) {
	c.related.Add(1)
	return c.Store.Related(ctx, q)
}

// A page of any size is expanded by one read for each relationship, and what was read beside
// it counts as read.
func TestExpandReadsOnce(t *testing.T) {
	t.Parallel()
	kept := &counting{Store: inSQLite(t)}
	b := newWorldOver(t, kept).book("mine")
	b.pages()
	g, token, err := b.grants.Create(
		b.ctx(),
		grants.New{
			ClientName: "Reader",
			Scope:      grants.GrantedStreams{b.scope("entries"), b.scope("pages"), b.scope("people")},
		},
	)
	check(t, err)
	b.ask(token, "/v1/streams/entries/records?expand=pages,person")
	if kept.lists.Load() != 2 || kept.related.Load() != 1 {
		t.Errorf("read by %d lists and %d relations", kept.lists.Load(), kept.related.Load())
	}
	uses, err := b.store.GrantUses(b.ctx(), g.ID)
	check(t, err)
	got := map[string]int64{}
	for _, u := range uses {
		got[u.Stream] = u.Records
	}
	if fmt.Sprint(got) != "map[entries:5 pages:11 people:3]" {
		t.Errorf("counted %v", got)
	}
}
