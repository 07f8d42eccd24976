package readapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/share/readapi"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// held keeps what clients read waiting, until it is let go or its time is over.
type held struct {
	store.Store
	waiting chan struct{}
	letGo   chan struct{}
}

func (h *held) ListRecords(ctx context.Context, q store.RecordQuery) ([]store.StoredRecord, error) {
	if store.IsForClient(ctx) && len(q.Where) > 0 {
		h.waiting <- struct{}{}
		select {
		case <-h.letGo:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return h.Store.ListRecords(ctx, q)
}

// serveWith answers for a world with limits of its own.
func (w *world) serveWith(kept store.Store, l readapi.GrantLimits) {
	w.t.Helper()
	cursors, err := grants.NewCursors(w.ctx(), w.store, noon)
	check(w.t, err)
	mux := http.NewServeMux()
	for _, route := range readapi.Routes(readapi.Config{Grants: w.grants, Cursors: cursors, Store: kept,
		IsOwner: w.auth.IsOwner, Now: w.time, Limits: l}) {
		mux.HandleFunc(route.Pattern, route.Handle)
	}
	server := httptest.NewServer(mux)
	w.t.Cleanup(server.Close)
	w.address = server.URL
}

// One grant with 24 reads that take long: one reads, one waits for it, the rest is refused
// at once, and the owner and another grant read as ever.
func TestOneGrantKeepsNobodyWaiting(t *testing.T) {
	w := newWorld(t)
	w.furnish()
	const asked, inFlight = 24, 2
	kept := &held{Store: w.store, waiting: make(chan struct{}, asked), letGo: make(chan struct{})}
	w.serveWith(kept, readapi.GrantLimits{})
	token, other, owner := w.grant("", notes), w.grant("", notes), w.owner()
	const slow = "/v1/streams/notes/records?filter[folder]=away"
	answers := make(chan answer, asked)
	for range asked {
		go func() { answers <- w.ask(token, slow) }()
	}
	<-kept.waiting
	for range asked - inFlight {
		a := <-answers
		if a.status != http.StatusTooManyRequests || a.code() != grants.CodeRateLimit || a.header.Get("Retry-After") != "1" {
			t.Errorf("answered %d %s, Retry-After %q", a.status, a.body, a.header.Get("Retry-After"))
		}
	}
	if len(kept.waiting) > 0 {
		t.Error("one grant reads twice at the same time")
	}
	for name, a := range map[string]answer{"the owner": w.ask(owner, slow),
		"another grant": w.ask(other, "/v1/streams/notes/records")} {
		if a.status != http.StatusOK {
			t.Errorf("%s meanwhile: %d %s", name, a.status, a.body)
		}
	}
	close(kept.letGo)
	for range inFlight {
		if a := <-answers; a.status != http.StatusOK {
			t.Errorf("what was under way: %d %s", a.status, a.body)
		}
	}
	if a := w.ask(token, "/v1/streams/notes/records"); a.status != http.StatusOK {
		t.Errorf("afterwards: %d %s", a.status, a.body)
	}
}

func TestReadsPerMinute(t *testing.T) {
	w := newWorld(t)
	w.furnish()
	w.serveWith(w.store, readapi.GrantLimits{PerMinute: 6})
	token, other := w.grant("", notes), w.grant("", notes)
	for range 6 {
		if a := w.ask(token, "/v1/streams"); a.status != http.StatusOK {
			t.Fatalf("within the limit: %d %s", a.status, a.body)
		}
	}
	a := w.ask(token, "/v1/streams")
	if a.status != http.StatusTooManyRequests || a.code() != grants.CodeRateLimit || a.header.Get("Retry-After") != "10" ||
		!strings.Contains(a.body, "next") {
		t.Errorf("beyond it: %d %s, Retry-After %q", a.status, a.body, a.header.Get("Retry-After"))
	}
	if a := w.ask(other, "/v1/streams"); a.status != http.StatusOK {
		t.Errorf("another grant: %d %s", a.status, a.body)
	}
	w.after(10 * time.Second)
	if a := w.ask(token, "/v1/streams"); a.status != http.StatusOK {
		t.Errorf("as long later as was said: %d %s", a.status, a.body)
	}
	if a := w.ask(token, "/v1/streams"); a.status != http.StatusTooManyRequests {
		t.Errorf("and once more: %d %s", a.status, a.body)
	}
}

// A read that takes too long ends with an error that states what to do instead; nothing is counted as read.
func TestReadDeadline(t *testing.T) {
	w := newWorld(t)
	w.furnish()
	kept := &held{Store: w.store, waiting: make(chan struct{}, 1)}
	w.serveWith(kept, readapi.GrantLimits{Deadline: time.Millisecond})
	g, token, err := w.grants.Create(w.ctx(), grants.New{ClientName: "Reader", Scope: grants.GrantedStreams{notes}})
	check(t, err)
	a := w.ask(token, "/v1/streams/notes/records?filter[folder]=away")
	if a.status != http.StatusServiceUnavailable || a.code() != grants.CodeReadTimeout ||
		!strings.Contains(a.body, "Ask for less at once") {
		t.Errorf("answered %d %s", a.status, a.body)
	}
	if g, err = w.grants.One(w.ctx(), g.ID); err != nil || g.Uses != 0 {
		t.Errorf("counted %+v, %v", g, err)
	}
}

// A statement of the database itself is cut short, on both of them.
func TestReadDeadlineReachesTheDatabase(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		w := newWorldOver(t, open(t))
		w.furnish()
		w.serveWith(w.store, readapi.GrantLimits{Deadline: time.Nanosecond})
		token := w.grant("", notes)
		if a := w.ask(token, "/v1/streams/notes/records"); a.status != http.StatusServiceUnavailable ||
			a.code() != grants.CodeReadTimeout {
			t.Errorf("answered %d %s", a.status, a.body)
		}
		if a := w.ask(w.owner(), "/v1/streams/notes/records"); a.status != http.StatusOK {
			t.Errorf("the owner: %d %s", a.status, a.body)
		}
	})
}
