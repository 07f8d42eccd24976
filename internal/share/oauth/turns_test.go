package oauth_test

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// slowLooks keeps codes and tokens waiting to be found, and notes that they began.
type slowLooks struct {
	store.Store
	inside, open chan struct{}
}

func (s *slowLooks) GrantByToken(ctx context.Context, hash []byte) (store.Grant, error) {
	s.inside <- struct{}{}
	<-s.open
	return s.Store.GrantByToken(ctx, hash)
}

func (s *slowLooks) RedeemCode(ctx context.Context, code, token []byte, check func(store.GrantRequest) error,
	now time.Time) (store.Grant, error) {
	s.inside <- struct{}{}
	<-s.open
	return s.Store.RedeemCode(ctx, code, token, check, now)
}

// Codes and tokens are looked up one at a time, however many callers there are.
func TestEverybodyTakesTurns(t *testing.T) {
	kept := &slowLooks{Store: newWorld(t).store, inside: make(chan struct{}, 100), open: make(chan struct{})}
	w := &world{t: t, store: kept}
	w.serve()
	const each = 8
	answers := make(chan int, 3*each)
	for range each {
		token := url.Values{"token": {"pdpp_gt_" + rand.Text() + rand.Text()}}
		for path, form := range map[string]url.Values{
			"/introspect": token, "/oauth/revoke": token,
			"/oauth/token": {"grant_type": {"authorization_code"}, "code": {"pdpp_gc_" + rand.Text() + rand.Text()},
				"redirect_uri": {"https://app.example/back"},
				"client_id":    {"cl_1"}, "code_verifier": {strings.Repeat("v", 43)}},
		} {
			go func() { answers <- w.post(path, form).status }()
		}
	}
	<-kept.inside
	for range each { // whatever waits for no database is answered
		if a := w.get("/.well-known/oauth-authorization-server"); a.status != http.StatusOK {
			t.Errorf("meanwhile: %d", a.status)
		}
	}
	if len(kept.inside) > 0 {
		t.Errorf("%d are looked up beside the first", len(kept.inside))
	}
	close(kept.open)
	for range 3 * each {
		if status := <-answers; status != http.StatusOK && status != http.StatusBadRequest {
			t.Errorf("answered %d", status)
		}
	}
	if len(kept.inside) != 3*each-1 {
		t.Errorf("%d of %d were looked up", len(kept.inside)+1, 3*each)
	}
}
