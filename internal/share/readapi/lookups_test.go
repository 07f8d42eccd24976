package readapi_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/share/readapi"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// lookups counts the tokens that are looked up, and keeps those waiting that are held.
type lookups struct {
	held
	ofOwners, ofClients atomic.Int32 // by the owner of the connection
	hold                func(hash []byte) bool
	inside, open        chan struct{}
}

func (l *lookups) GrantByToken(ctx context.Context, hash []byte) (store.Grant, error) {
	if store.IsForClient(ctx) {
		l.ofClients.Add(1)
	} else {
		l.ofOwners.Add(1)
	}
	if l.hold != nil && l.hold(hash) {
		l.inside <- struct{}{}
		<-l.open
	}
	return l.held.GrantByToken(ctx, hash)
}

// grantsOver makes everything, the grants included, ask one store.
func (w *world) grantsOver(kept store.Store) {
	w.store = kept
	w.grants = grants.NewService(kept, "https://home.example", w.time)
	w.serveWith(kept, readapi.GrantLimits{})
}

// What a grant is refused because it reads already costs the database nothing: its token
// is looked up for the read that has its turn, by the connections of clients, and for no
// other.
func TestRefusedReadsAskTheDatabaseNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		w := newWorldOver(t, open(t))
		w.furnish()
		const asked, inFlight = 24, 2
		kept := &lookups{held: held{Store: w.store, waiting: make(chan struct{}, asked), letGo: make(chan struct{})}}
		w.grantsOver(kept)
		token := w.grant("", notes)
		if a := w.ask(token, "/v1/streams"); a.status != http.StatusOK {
			t.Fatalf("the first read: %d %s", a.status, a.body)
		}
		kept.ofOwners.Store(0)
		kept.ofClients.Store(0)
		answers := make(chan answer, asked)
		for range asked {
			go func() { answers <- w.ask(token, "/v1/streams/notes/records?filter[folder]=away") }()
		}
		<-kept.waiting
		for range asked - inFlight {
			if a := <-answers; a.status != http.StatusTooManyRequests {
				t.Errorf("answered %d %s", a.status, a.body)
			}
		}
		if owners, clients := kept.ofOwners.Load(), kept.ofClients.Load(); owners != 0 || clients != 1 {
			t.Errorf("%d reads had their tokens looked up %d times by the owner's connections and %d times by those of clients",
				asked, owners, clients)
		}
		close(kept.letGo)
		for range inFlight {
			if a := <-answers; a.status != http.StatusOK {
				t.Errorf("what was under way: %d %s", a.status, a.body)
			}
		}
	})
}

// A grant that is taken back while one of its reads waits for its turn is refused there.
func TestRevokedWhileWaiting(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		w := newWorldOver(t, open(t))
		w.furnish()
		kept := &lookups{held: held{Store: w.store, waiting: make(chan struct{}, 2), letGo: make(chan struct{})}}
		w.grantsOver(kept)
		g, token, err := w.grants.Create(w.ctx(), grants.New{ClientName: "Reader", Scope: grants.GrantedStreams{notes}})
		check(t, err)
		const slow = "/v1/streams/notes/records?filter[folder]=away"
		answers := make(chan answer, 3)
		for range 3 {
			go func() { answers <- w.ask(token, slow) }()
		}
		<-kept.waiting
		if a := <-answers; a.status != http.StatusTooManyRequests { // the two others are under way
			t.Fatalf("answered %d %s", a.status, a.body)
		}
		check(t, w.grants.Revoke(w.ctx(), g.ID))
		close(kept.letGo)
		first, second := <-answers, <-answers
		if first.status != http.StatusOK {
			first, second = second, first
		}
		if first.status != http.StatusOK || second.status != http.StatusForbidden ||
			second.code() != grants.CodeGrantRevoked {
			t.Errorf("answered %d %s and %d %s", first.status, first.body, second.status, second.body)
		}
	})
}

// Unknown tokens are looked up one at a time, however many there are. The owner and grants that have read before do
// not wait for them.
func TestStrangersWaitInLine(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		w := newWorldOver(t, open(t))
		w.furnish()
		const asked = 24
		kept := &lookups{held: held{Store: w.store}, inside: make(chan struct{}, asked), open: make(chan struct{})}
		w.grantsOver(kept)
		token, owner := w.grant("", notes), w.owner()
		const path = "/v1/streams/notes/records"
		for _, bearer := range []string{token, owner} {
			if a := w.ask(bearer, path); a.status != http.StatusOK {
				t.Fatalf("before: %d %s", a.status, a.body)
			}
		}
		known := sha256.Sum256([]byte(token))
		kept.hold = func(hash []byte) bool { return !bytes.Equal(hash, known[:]) }
		answers := make(chan answer, asked)
		for range asked {
			go func() { answers <- w.ask(grants.TokenPrefix+rand.Text()+rand.Text(), path) }()
		}
		<-kept.inside
		for name, bearer := range map[string]string{"the grant": token, "the owner": owner} {
			if a := w.ask(bearer, path); a.status != http.StatusOK {
				t.Errorf("%s meanwhile: %d %s", name, a.status, a.body)
			}
		}
		if len(kept.inside) > 0 {
			t.Errorf("%d strangers are looked up beside the first", len(kept.inside))
		}
		close(kept.open)
		for range asked {
			if a := <-answers; a.status != http.StatusUnauthorized {
				t.Errorf("a stranger: %d %s", a.status, a.body)
			}
		}
	})
}
