package readapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// event is one server-sent event.
type event struct{ id, kind, data string }

// openFeed is a feed that is being read.
type openFeed struct {
	t      *testing.T
	status int
	lines  *bufio.Scanner
	end    context.CancelFunc
}

func (w *world) feed(t *testing.T, token, path, last string) *openFeed {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	t.Cleanup(end)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.address+path, nil)
	check(t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	res, err := http.DefaultClient.Do(req)
	check(t, err)
	t.Cleanup(func() { res.Body.Close() })
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	return &openFeed{t, res.StatusCode, lines, end}
}

// next returns the next event, and false after the last one.
func (f *openFeed) next() (e event, more bool) {
	f.t.Helper()
	for f.lines.Scan() {
		name, value, _ := strings.Cut(f.lines.Text(), ": ")
		switch name {
		case "id":
			e.id = value
		case "event":
			e.kind = value
		case "data":
			e.data = value
		case "":
			if e.data != "" {
				return e, true
			}
		}
	}
	return e, false
}

// page returns the next event as a page of changes.
func (f *openFeed) page() (page, string) {
	f.t.Helper()
	e, more := f.next()
	if !more || e.kind != "changes" {
		f.t.Fatalf("event %+v, more %v, status %d", e, more, f.status)
	}
	var p page
	check(f.t, json.Unmarshal([]byte(e.data), &p))
	if p.Since != e.id {
		f.t.Errorf("id %q, cursor %q", e.id, p.Since)
	}
	return p, e.id
}

// A feed goes on from the last event that a client has seen, and shows deletions.
func TestFeed(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, open opener) {
		w := newWorldOver(t, open(t))
		mine, _ := w.furnish()
		token := w.grant("", grants.Stream{ConnectionID: "mine", Stream: "notes"})
		f := w.feed(t, token, "/v1/changes?stream=notes&limit=2", "")
		first, id := f.page()
		second, _ := f.page()
		third, last := f.page()
		if got := first.ids() + "|" + second.ids() + "|" + third.ids(); got != "n1 n2|n3 -n4|-n5" {
			t.Errorf("changes %q", got)
		}
		w.put(mine, note("n6", at(3, 21), "new", "body", "hidden", "home"))
		if p, _ := f.page(); p.ids() != "n6" {
			t.Errorf("change %q", p.ids())
		}
		f.end()
		f = w.feed(t, token, "/v1/changes?stream=notes&limit=2", id)
		if p, _ := f.page(); p.ids() != second.ids() {
			t.Errorf("after the first event %q", p.ids())
		}
		f.end()
		w.put(mine, gone("notes", "n6"))
		if p, _ := w.feed(t, token, "/v1/changes?stream=notes", last).page(); p.ids() != "-n6" {
			t.Errorf("after the last event %q", p.ids())
		}
	})
}

// A feed shows what a list of changes shows, and refuses what that refuses, with the same code.
func TestFeedAttacks(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, open opener) {
		w := newWorldOver(t, open(t))
		w.furnish()
		tokens := map[string]string{
			"titles": w.grant("", grants.Stream{ConnectionID: "mine", Stream: "notes",
				Fields: []string{"id", "title"}}),
			"window": w.grant("", grants.Stream{ConnectionID: "mine", Stream: "notes",
				Since: ptr(at(2, 1)), Until: ptr(at(3, 1))}),
			"chosen": w.grant("", grants.Stream{ConnectionID: "mine", Stream: "notes",
				Resources: []string{"n2", "n4"}}),
			"letters": w.grant("", grants.Stream{ConnectionID: "mine", Stream: "letters"}),
			"once":    w.grant(store.GrantSingleUse, grants.Stream{ConnectionID: "mine", Stream: "notes"}),
			"owner":   w.owner(), "none": "pdpp_gt_none",
		}
		foreign := w.ask(tokens["window"], "/v1/streams/notes/records?changes_since=beginning").page(t).Since
		for name, token := range tokens {
			for _, query := range []string{"", "&fields=title", "&fields=private", "&connection_id=other",
				"&connection_id=none", "&filter[private]=zebra", "&changes_since=" + foreign, "&changes_since=x", "&limit=0",
				"&limit=1", "&surprise=1"} {
				list := w.ask(token, "/v1/streams/notes/records?changes_since=beginning"+query)
				if strings.Contains(query, "changes_since") {
					list = w.ask(token, "/v1/streams/notes/records?"+query[1:])
				}
				f := w.feed(t, token, "/v1/changes?stream=notes"+query, "")
				if f.status != list.status {
					t.Errorf("%s%s: status %d, a list has %d", name, query, f.status, list.status)
				}
				if f.status != http.StatusOK {
					var body strings.Builder
					for f.lines.Scan() {
						body.WriteString(f.lines.Text())
					}
					if got := (answer{body: body.String()}).code(); got != list.code() {
						t.Errorf("%s%s: code %s, a list has %s", name, query, got, list.code())
					}
					continue
				}
				if want := list.page(t); len(want.Data) > 0 {
					e, _ := f.next()
					var got page
					check(t, json.Unmarshal([]byte(e.data), &got))
					if cursor.ReplaceAllString(e.data, "") != cursor.ReplaceAllString(strings.TrimSpace(list.body), "") {
						t.Errorf("%s%s: event %s, a list has %s", name, query, e.data, list.body)
					}
				}
				f.end()
			}
		}
	})
}

// A feed ends when its grant does, although nothing changes.
func TestFeedEndsWithItsGrant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.furnish()
	g, token, err := w.grants.Create(w.ctx(), grants.New{ClientName: "Reader", Purpose: "reading",
		Scope: []grants.Stream{{ConnectionID: "mine", Stream: "notes"}}})
	check(t, err)
	f := w.feed(t, token, "/v1/changes?stream=notes", "")
	f.page()
	check(t, w.grants.Revoke(w.ctx(), g.ID))
	e, more := f.next()
	if !more || e.kind != "error" || !strings.Contains(e.data, `"code":"grant_revoked"`) {
		t.Errorf("event %+v", e)
	}
	if e, more := f.next(); more {
		t.Errorf("event after the end: %+v", e)
	}
}

// A grant cannot hold any number of feeds.
func TestFeedsOfOneGrant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.furnish()
	token := w.grant("", grants.Stream{ConnectionID: "mine", Stream: "notes"})
	w.ask(token, "/v1/streams/notes/records")
	for range 4 { // they stay open until the test ends
		w.feed(t, token, "/v1/changes?stream=notes", "").page()
	}
	if f := w.feed(t, token, "/v1/changes?stream=notes", ""); f.status != http.StatusTooManyRequests {
		t.Errorf("status %d", f.status)
	}
}
