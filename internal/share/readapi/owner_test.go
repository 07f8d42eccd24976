package readapi_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// The owner reads every account, one after the other, in pages of any size.
func TestOwnerReadsEverything(t *testing.T) {
	w := newWorld(t)
	_, other := w.furnish()
	w.put(other, note("n2", at(2, 10), "same key", "same key", "x", "home"))
	token := w.owner()
	for _, tt := range []struct{ path, want string }{
		{"/v1/streams/notes/records", "n1 n2 n3 m1 n2"},
		{"/v1/streams/notes/records?order=desc", "n3 n2 n1 n2 m1"},
		{"/v1/streams/notes/records?connection_id=other", "m1 n2"},
		{"/v1/streams/notes/records?filter[folder]=home", "n1 n2"},
		{"/v1/streams/notes/records?filter[private]=quokka", "n2"},
	} {
		for _, limit := range []string{"1", "2", "3", "100"} {
			join := "?"
			if strings.Contains(tt.path, "?") {
				join = "&"
			}
			path, got := tt.path+join+"limit="+limit, []string{}
			for next := path; next != ""; {
				p := w.ask(token, next).page(t)
				got = append(got, p.ids())
				if next = ""; p.HasMore {
					next = path + "&cursor=" + p.Next
				}
			}
			if all := strings.Join(got, " "); all != tt.want {
				t.Errorf("%s gives %q, want %q", path, all, tt.want)
			}
		}
	}
	if p := w.ask(token, "/v1/search?q=same").page(t); p.ids() != "n2" {
		t.Errorf("search finds %s", p.ids())
	}
	if a := w.ask(token, "/v1/streams/notes/records/n2"); a.code() != grants.CodeInvalidRequest {
		t.Errorf("one id in two accounts: %d %s", a.status, a.body)
	}
	if a := w.ask(token, "/v1/streams/notes/records/n2?connection_id=other&fields=title"); !strings.Contains(a.body,
		`"data":{"title":"same key"},`) {
		t.Errorf("one record: %d %s", a.status, a.body)
	}
	for path, code := range map[string]string{
		"/v1/streams/nowhere/records":                    grants.CodeNotFound,
		"/v1/streams/notes/records?connection_id=nobody": grants.CodeNotFound,
		"/v1/streams/nowhere":                            grants.CodeNotFound,
		"/v1/search?q=x&stream=nowhere":                  grants.CodeNotFound,
	} {
		if a := w.ask(token, path); a.status != 404 || a.code() != code {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	if a := w.ask(token, "/_ref/connectors"); a.body != "owner only" {
		t.Errorf("the owner's own route: %d %s", a.status, a.body)
	}
}

// Search goes on where it ended, the newest first.
func TestSearchPages(t *testing.T) {
	w := newWorld(t)
	mine := w.connect("mine")
	for _, key := range []string{"a", "b", "c"} {
		w.put(mine, note(key, at(1, 1), "word", "", "", ""))
	}
	token := w.grant("", notes)
	first := w.ask(token, "/v1/search?q=word&limit=2").page(t)
	if first.ids() != "c b" || !first.HasMore {
		t.Fatalf("first page %+v", first)
	}
	if p := w.ask(token, "/v1/search?q=word&limit=2&cursor="+first.Next).page(t); p.ids() != "a" || p.HasMore {
		t.Errorf("second page %+v", p)
	}
	for _, path := range []string{"/v1/search?q=other&cursor=", "/v1/search?q=word&stream=notes&cursor="} {
		if a := w.ask(token, path+first.Next); a.code() != grants.CodeInvalidCursor {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
}

// A feed of changes over two accounts misses nothing and repeats nothing.
func TestChangesFollowEveryAccount(t *testing.T) {
	w := newWorld(t)
	mine, other := w.furnish()
	token := w.grant("", notes, grants.Stream{ConnectionID: "other", Stream: "notes"})
	since := "beginning"
	read := func() string {
		var ids []string
		for {
			p := w.ask(token, "/v1/streams/notes/records?limit=2&changes_since="+since).page(t)
			since = p.Since
			ids = append(ids, p.ids())
			if !p.HasMore {
				return strings.Join(ids, " ")
			}
		}
	}
	if got := read(); got != "n1 n2 n3 -n4 -n5 m1" {
		t.Fatalf("at first %q", got)
	}
	if got := read(); got != "" {
		t.Fatalf("nothing changed, and yet %q", got)
	}
	w.put(other, gone("notes", "m1"))
	w.put(mine, note("n1", at(1, 10), "garden plan", "plant plums", "zebra", "home"))
	if got := read(); got != "n1 -m1" {
		t.Errorf("then %q", got)
	}
	for _, query := range []string{"&order=desc", "&filter[folder]=home", "&cursor=x"} {
		if a := w.ask(token, "/v1/streams/notes/records?changes_since="+since+query); a.code() != grants.CodeInvalidRequest {
			t.Errorf("%s: %d %s", query, a.status, a.body)
		}
	}
}

func TestStreamsAndSchemas(t *testing.T) {
	w := newWorld(t)
	mine, _ := w.furnish()
	check(t, w.store.FinishRun(w.ctx(), mine,
		store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"}}, noon))
	narrow := w.grant("", february(grants.Stream{ConnectionID: "mine", Stream: "notes",
		Fields: []string{"title", "folder"}}))
	whole := w.grant("", notes, grants.Stream{ConnectionID: "other", Stream: "letters"})
	w.after(2 * time.Hour)
	for _, tt := range []struct{ token, path, want string }{
		{whole, "/v1/streams", `{"object":"list","data":[` +
			`{"object":"stream","connection_id":"mine","name":"notes","record_count":3,` +
			`"last_updated":"2026-04-01T12:00:00Z","freshness":{"status":"current","captured_at":"2026-04-01T12:00:00Z"}},` +
			`{"object":"stream","connection_id":"other","name":"letters","record_count":0,"last_updated":null,` +
			`"freshness":{"status":"unknown"}}],"completeness":[` +
			`{"connection_id":"mine","connector_name":"Journal","stream":"notes","as_of":"2026-04-01T12:00:00Z",` +
			`"freshness":"current","range":{},` +
			`"whole":"unknown","covered":[]},` +
			`{"connection_id":"other","connector_name":"Journal","stream":"letters","freshness":"unknown",` +
			`"range":{},"whole":"unknown","covered":[]}]}`},
		{narrow, "/v1/streams", `{"object":"list","data":[` +
			`{"object":"stream","connection_id":"mine","name":"notes","record_count":null,"last_updated":null,` +
			`"freshness":{"status":"current","captured_at":"2026-04-01T12:00:00Z"}}],"completeness":[` +
			`{"connection_id":"mine","connector_name":"Journal","stream":"notes","as_of":"2026-04-01T12:00:00Z",` +
			`"freshness":"current",` +
			`"range":{"from":"2026-02-01T09:00:00Z","to":"2026-03-01T09:00:00Z"},"whole":"unknown","covered":[]}]}`},
		{narrow, "/v1/streams/notes", `{"object":"stream","connection_id":"mine","name":"notes","schema":{"type":"object",` +
			`"properties":{"folder":{"type":"string"},"id":{"type":"string"},"title":{"type":"string"}},"required":["id"]},` +
			`"primary_key":["id"],"filter_fields":["folder"]}`},
		{narrow, "/v1/connectors", `{"object":"list","data":[{"object":"connector","id":"journal","name":"Journal"}]}`},
		{w.owner(), "/v1/connectors", `{"object":"list","data":[{"object":"connector","id":"journal","name":"Journal"}]}`},
	} {
		if a := w.ask(tt.token, tt.path); a.status != 200 || strings.TrimSpace(a.body) != tt.want {
			t.Errorf("%s: %d %s\nwant %s", tt.path, a.status, a.body, tt.want)
		}
	}
	if a := w.ask(narrow, "/v1/schema"); strings.Contains(a.body, "private") || strings.Contains(a.body, "letters") ||
		!strings.Contains(a.body, "title") {
		t.Errorf("the schema of a narrow grant: %s", a.body)
	}
	if a := w.ask(w.owner(), "/v1/schema"); strings.Count(a.body, `"name":"letters"`) != 2 {
		t.Errorf("the owner's schema: %s", a.body)
	}
	w.after(48 * time.Hour)
	if a := w.ask(whole, "/v1/streams"); !strings.Contains(a.body, `"status":"stale"`) {
		t.Errorf("two days later: %s", a.body)
	}
}

// What a grant read is counted, by stream.
func TestUsageIsCounted(t *testing.T) {
	w := newWorld(t)
	w.furnish()
	g, token, err := w.grants.Create(w.ctx(),
		grants.New{ClientName: "Reader", Scope: grants.GrantedStreams{notes, {ConnectionID: "mine", Stream: "letters"}}})
	check(t, err)
	w.ask(token, "/v1/streams/notes/records")
	w.ask(token, "/v1/streams/letters/records")
	w.ask(token, "/v1/streams/notes/records/n1")
	w.ask(token, "/v1/streams/notes/records?fields=nothing")
	w.ask(token, "/v1/search?q=axolotl")
	g, err = w.grants.One(w.ctx(), g.ID)
	check(t, err)
	if len(g.Usage) != 2 || g.Usage[0].Stream != "letters" || g.Usage[0].Reads != 2 || g.Usage[0].Records != 2 ||
		g.Usage[1].Reads != 2 || g.Usage[1].Records != 4 {
		t.Errorf("usage %+v", g.Usage)
	}
}
