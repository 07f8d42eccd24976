package auth_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/web/auth"
)

// slowLooks keeps look-ups waiting once they are held, and notes that they began.
type slowLooks struct {
	store.Store
	held         func(hash []byte) bool
	inside, open chan struct{}
}

func (s *slowLooks) wait(hash []byte) {
	if s.held != nil && s.held(hash) {
		s.inside <- struct{}{}
		<-s.open
	}
}

func (s *slowLooks) OwnerToken(ctx context.Context, hash []byte) (store.OwnerToken, error) {
	s.wait(hash)
	return s.Store.OwnerToken(ctx, hash)
}

func (s *slowLooks) Session(ctx context.Context, hash []byte, now time.Time) (store.Session, error) {
	s.wait(hash)
	return s.Store.Session(ctx, hash, now)
}

func (s *slowLooks) BrowserKnown(ctx context.Context, hash []byte, since time.Time) (bool, error) {
	s.wait(hash)
	return s.Store.BrowserKnown(ctx, hash, since)
}

// Unknown tokens, sessions and browsers are looked up one at a time, and the known owner does not wait for them.
func TestStrangersWaitInLine(t *testing.T) {
	kept := &slowLooks{inside: make(chan struct{}, 100), open: make(chan struct{})}
	b := newBedOver(t, func(st store.Store) store.Store { kept.Store = st; return kept })
	signedIn := b.signedIn()
	_, token, err := b.auth.CreateToken(t.Context(), auth.NewToken{Label: "Script"})
	if err != nil {
		t.Fatal(err)
	}
	owner := map[string]func() answer{
		"by a session": func() answer { return b.request(http.MethodGet, "/").by(signedIn) },
		"by a token": func() answer {
			return b.request(http.MethodGet, "/_ref/x").with("Authorization", "Bearer "+token).by(browser())
		},
	}
	known := map[string]bool{}
	kept.held = func(hash []byte) bool { known[string(hash)] = true; return false }
	for name, ask := range owner {
		if a := ask(); a.StatusCode != http.StatusOK {
			t.Fatalf("the owner %s: %d %s", name, a.StatusCode, a.body)
		}
	}
	kept.held = func(hash []byte) bool { return !known[string(hash)] }
	const each = 8
	answers := make(chan int, 3*each)
	for i := range each {
		for _, r := range []*req{
			b.request(http.MethodGet, "/_ref/x").with("Authorization", "Bearer pdpp_ot_"+strings.Repeat(fmt.Sprint(i), 40)),
			b.request(http.MethodGet, "/_ref/x").with("Cookie", fmt.Sprint("pdpp_session=unknown", i)),
			b.request(http.MethodPost, "/login").sending("password", "wrong").with("Cookie",
				fmt.Sprint("pdpp_browser=unknown", i)),
		} {
			go func() { answers <- r.by(browser()).StatusCode }()
		}
	}
	<-kept.inside
	for name, ask := range owner {
		if a := ask(); a.StatusCode != http.StatusOK {
			t.Errorf("the owner meanwhile %s: %d %s", name, a.StatusCode, a.body)
		}
	}
	if len(kept.inside) > 0 {
		t.Errorf("%d strangers are looked up beside the first", len(kept.inside))
	}
	close(kept.open)
	for range 3 * each {
		if status := <-answers; status != http.StatusUnauthorized && status != http.StatusTooManyRequests {
			t.Errorf("a stranger: %d", status)
		}
	}
}
