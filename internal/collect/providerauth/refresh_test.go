package providerauth_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/providerauth"
	"github.com/pdpp-go/pdpp/internal/quality/oidctest"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// A token that expired or was rejected is replaced by one request, however many callers ask. The stored form is
// sealed. A withdrawn consent is reported once and not requested again.
func TestRefresh(t *testing.T) {
	t.Parallel()
	provider := oidctest.Start(t, oidctest.Options{TokenSeconds: 600})
	b := newBed(t, provider)
	ctx := t.Context()
	if _, err := b.Access(ctx, b.source, 0); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("without a sign-in: %v", err)
	}
	b.signIn(t)
	first, err := b.Access(ctx, b.source, 0)
	if err != nil || provider.Log(t).Refreshed != 0 {
		t.Fatalf("a fresh token is refreshed: %v", err)
	}
	var got [8]providerauth.AccessToken
	var wait sync.WaitGroup
	for i := range got {
		wait.Go(func() {
			var err error
			if got[i], err = b.Access(ctx, b.source, first.Generation); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	for _, a := range got {
		if a.Generation != first.Generation+1 || !a.Token.Equal(got[0].Token) || a.Token.Equal(first.Token) ||
			!a.CapturedAt.Equal(first.CapturedAt) {
			t.Errorf("generation %d after %d", a.Generation, first.Generation)
		}
	}
	if log := provider.Log(t); log.Refreshed != 1 || !provider.Accepts(t, got[0].Token.Reveal()) {
		t.Errorf("the provider saw %+v", log)
	}
	c, err := b.store.Credential(ctx, connection)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := credential.OpenTokens(testKey, connection, c.Sealed)
	if err != nil || !kept.Access.Equal(got[0].Token) || c.Fingerprint != kept.Fingerprint(testKey) {
		t.Fatalf("kept: %v", err)
	}
	if _, err := credential.OpenFor(testKey, connection, c.Sealed); err == nil {
		t.Error("what holds the refresh token opens as variables")
	}

	// Trouble keeps a token that is still good, and is not asked again before its time.
	provider.Fail(t, 1)
	shift := time.Duration(0)
	b.Now = func() time.Time { return time.Now().Add(shift) }
	shift = 9*time.Minute + 30*time.Second // within the margin
	before := provider.Log(t).Requests
	for range 3 {
		if a, err := b.Access(ctx, b.source, 0); err != nil || a.Generation != got[0].Generation {
			t.Fatalf("during trouble: %d, %v", a.Generation, err)
		}
	}
	if n := provider.Log(t).Requests - before; n != 1 {
		t.Errorf("%d requests during trouble", n)
	}
	var trouble *providerauth.Trouble
	if _, err := b.Access(ctx, b.source, got[0].Generation); !errors.As(err, &trouble) {
		t.Errorf("with a refused token: %v", err)
	}
	shift += 31 * time.Second
	fresh, err := b.Access(ctx, b.source, 0)
	if err != nil || fresh.Generation != got[0].Generation+1 {
		t.Fatalf("after trouble: %+v, %v", fresh, err)
	}

	provider.Withdraw(t)
	var ended *providerauth.Rejected
	before = provider.Log(t).Requests
	for range 3 {
		if _, err := b.Access(ctx, b.source, fresh.Generation); !errors.As(err, &ended) ||
			ended.Reason != providerauth.ReasonWithdrawn {
			t.Fatalf("after the consent was withdrawn: %v", err)
		}
	}
	if n := provider.Log(t).Requests - before; n != 1 {
		t.Errorf("%d requests after the consent was withdrawn", n)
	}
	if c, err = b.store.Credential(ctx, connection); err != nil || c.Status != store.CredentialRejected ||
		c.RejectionReason != providerauth.ReasonWithdrawn {
		t.Errorf("recorded as %s, %s, %v", c.Status, c.RejectionReason, err)
	}
	b.signIn(t)
	if a, err := b.Access(ctx, b.source, 0); err != nil || !provider.Accepts(t, a.Token.Reveal()) {
		t.Errorf("after another sign-in: %v", err)
	}

	// Without a refresh token the access token serves to the last.
	c, err = b.store.Credential(ctx, connection)
	if err != nil {
		t.Fatal(err)
	}
	if kept, err = credential.OpenTokens(testKey, connection, c.Sealed); err != nil {
		t.Fatal(err)
	}
	kept.Refresh = credential.Secret{}
	c.Sealed = kept.SealFor(testKey, connection)
	if err := b.store.PutCredential(ctx, c); err != nil {
		t.Fatal(err)
	}
	shift += 9*time.Minute + 30*time.Second
	if a, err := b.Access(ctx, b.source, 0); err != nil || !a.Token.Equal(kept.Access) {
		t.Errorf("shortly before the end: %v", err)
	}
	shift += time.Minute
	if _, err := b.Access(ctx, b.source, 0); !errors.As(err, &ended) || ended.Reason != providerauth.ReasonExpired {
		t.Errorf("after the end: %v", err)
	}
}

// memory answers as a provider does. It answers only requests with a bound on their time.
type memory struct {
	mu     sync.Mutex
	answer func() (*http.Response, error)
	asked  []time.Time
	form   url.Values // of the last request
}

func (m *memory) RoundTrip(r *http.Request) (*http.Response, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := r.ParseForm(); err != nil {
		return nil, err
	}
	if end, bounded := r.Context().Deadline(); !bounded || time.Until(end) > 20*time.Second {
		return nil, fmt.Errorf("the request may take until %s", end)
	}
	m.form = r.PostForm
	m.asked = append(m.asked, time.Now())
	return m.answer()
}

// TestPrivateTokenAddress exchanges a refresh token with a server of this machine, as if a public name resolved to it:
// a source that a file declares must not lead into the owner's network.
func TestPrivateTokenAddress(t *testing.T) {
	t.Parallel()
	for public, want := range map[bool]int64{true: 0, false: 1} {
		var asked atomic.Int64
		provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			w.WriteHeader(http.StatusServiceUnavailable)
		}))
		t.Cleanup(provider.Close)
		st := newMemoryStore(t)
		source := providerauth.SignInSource{ConnectionID: connection, ConnectorID: "tunes",
			Manifest: tunes(provider.URL), PublicOnly: public}
		ends := time.Now().Add(-time.Minute)
		old := credential.Tokens{Access: credential.NewSecret("a"), Refresh: credential.NewSecret("r"), Lifetime: time.Minute}
		st.credential = &store.Credential{ConnectionID: connection, Generation: 1, Status: store.CredentialActive,
			CapturedAt: ends.Add(-time.Minute), Sealed: old.SealFor(testKey, connection),
			Refresh: store.Refresh{Renewable: true, ExpiresAt: &ends}}
		var trouble *providerauth.Trouble
		if _, err := keeper(st).Access(t.Context(), source, 0); !errors.As(err, &trouble) || asked.Load() != want {
			t.Errorf("public only %v: the server was asked %d times, want %d (%v)", public, asked.Load(), want, err)
		}
	}
}

// Failures are 30 seconds apart, then twice as long each time up to an hour; after four days of
// them the owner is asked.
func TestFailuresAreSpaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newMemoryStore(t)
		k := keeper(st)
		k.Transport = &memory{answer: func() (*http.Response, error) { return nil, errors.New("no route") }}
		source := providerauth.SignInSource{ConnectionID: connection, ConnectorID: "tunes",
			Manifest: tunes("https://tunes.example")}
		began := time.Now()
		ends := began.Add(time.Minute)
		old := credential.Tokens{Access: credential.NewSecret("a"), Refresh: credential.NewSecret("r"),
			Lifetime: time.Minute}
		st.credential = &store.Credential{ConnectionID: connection, Generation: 1, Status: store.CredentialActive,
			CapturedAt: began,
			Sealed:     old.SealFor(testKey, connection), Refresh: store.Refresh{Renewable: true, ExpiresAt: &ends}}
		var err error
		var rejected *providerauth.Rejected
		time.Sleep(2 * time.Minute)
		for !errors.As(err, &rejected) {
			_, err = k.Access(t.Context(), source, 0)
			if trouble := (*providerauth.Trouble)(nil); errors.As(err, &trouble) {
				time.Sleep(time.Until(trouble.Until) - time.Second) // too early
				if _, err := k.Access(t.Context(), source, 0); !errors.As(err, &trouble) {
					t.Fatalf("before its time: %v", err)
				}
				time.Sleep(time.Until(trouble.Until))
			}
		}
		asked := k.Transport.(*memory).asked
		want := 30 * time.Second
		for i := 1; i < len(asked); i++ {
			if gap := asked[i].Sub(asked[i-1]); gap != want {
				t.Fatalf("attempt %d came %v after the one before, not %v", i, gap, want)
			}
			want = min(2*want, time.Hour)
		}
		if lasted := asked[len(asked)-1].Sub(asked[0]); lasted < 96*time.Hour || lasted > 98*time.Hour ||
			rejected.Reason != providerauth.ReasonFailing {
			t.Errorf("given up after %v: %s", lasted, rejected.Reason)
		}
	})
}

// A new pair is stored by a storage that is away for four seconds: the old one is worth nothing any more.
func TestStorageIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newMemoryStore(t)
		k := keeper(st)
		k.Transport = &memory{answer: func() (*http.Response, error) {
			message := `{"access_token":"b","refresh_token":"s","token_type":"bearer","expires_in":60}`
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
				Body: io.NopCloser(strings.NewReader(message))}, nil
		}}
		source := providerauth.SignInSource{ConnectionID: connection, ConnectorID: "tunes",
			Manifest: tunes("https://tunes.example")}
		old := credential.Tokens{Access: credential.NewSecret("a"), Refresh: credential.NewSecret("r"),
			Lifetime: time.Minute}
		st.credential = &store.Credential{ConnectionID: connection, Generation: 1, Status: store.CredentialActive,
			CapturedAt: time.Now(), Sealed: old.SealFor(testKey, connection), Refresh: store.Refresh{Renewable: true}}
		st.away = time.Now().Add(4 * time.Second)
		if got, err := k.Access(t.Context(), source, 1); err != nil || got.Token.Reveal() != "b" {
			t.Errorf("%v", err)
		}
	})
}

// A provider can want more parameters than the protocol, wrap the tokens in a member of its answer, and refuse with the
// status 200: only a refused refresh token ends the sign-in.
func TestWrappedExchange(t *testing.T) {
	for _, c := range []struct {
		body, token string
		rejected    bool
	}{
		{`{"status":0,"body":{"userid":"7","access_token":"b","refresh_token":"s","expires_in":60}}`, "b", false},
		{`{"status":503,"body":{},"error":"Invalid Params: invalid refresh_token"}`, "", true},
		{`{"status":601,"body":{},"error":"Too Many Requests"}`, "", false},
		{`[]`, "", false},
	} {
		synctest.Test(t, func(t *testing.T) {
			st := newMemoryStore(t)
			k := keeper(st)
			sent := &memory{answer: func() (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
					Body: io.NopCloser(strings.NewReader(c.body))}, nil
			}}
			k.Transport = sent
			m := tunes("https://tunes.example")
			m.Setup.OAuth.TokenParams, m.Setup.OAuth.TokenMember = map[string]string{"action": "requesttoken"}, "body"
			old := credential.Tokens{Access: credential.NewSecret("a"), Refresh: credential.NewSecret("r"),
				Lifetime: time.Minute}
			st.credential = &store.Credential{ConnectionID: connection, Generation: 1, Status: store.CredentialActive,
				CapturedAt: time.Now(), Sealed: old.SealFor(testKey, connection), Refresh: store.Refresh{Renewable: true}}
			got, err := k.Access(t.Context(), providerauth.SignInSource{ConnectionID: connection, ConnectorID: "tunes",
				Manifest: m}, 1)
			var rejected *providerauth.Rejected
			if got.Token.Reveal() != c.token || errors.As(err, &rejected) != c.rejected || (err == nil) != (c.token != "") {
				t.Errorf("%s: %v", c.body, err)
			}
			if sent.form.Get("action") != "requesttoken" || sent.form.Get("refresh_token") != "r" {
				t.Errorf("sent %v", sent.form)
			}
		})
	}
}

// Only a lost answer is reported as such: the old token is tried once more when the mark expires.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	provider := oidctest.Start(t, oidctest.Options{TokenSeconds: 600})
	b := newBed(t, provider)
	b.signIn(t)
	ctx := t.Context()
	first, err := b.Access(ctx, b.source, 0)
	if err != nil {
		t.Fatal(err)
	}
	// Another caller began and died before its request: the token is valid.
	now := time.Now()
	if _, err := b.store.BeginRefresh(ctx, connection, first.Generation, now.Add(-time.Millisecond),
		now.Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	second, err := b.Access(ctx, b.source, first.Generation)
	if err != nil || second.Generation != first.Generation+1 {
		t.Fatalf("after one that did not ask: %v", err)
	}
	// Another caller died with the answer: the provider has exchanged the token.
	c, err := b.store.Credential(ctx, connection)
	if err != nil {
		t.Fatal(err)
	}
	dying := newBed(t, provider)
	if err := dying.store.PutCredential(ctx, c); err != nil {
		t.Fatal(err)
	}
	if _, err := dying.Access(ctx, dying.source, 1); err != nil { // uses the token up, and b does not hear of it
		t.Fatal(err)
	}
	if _, err := b.store.BeginRefresh(ctx, connection, second.Generation, now.Add(-time.Millisecond),
		now.Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	var ended *providerauth.Rejected
	if _, err := b.Access(ctx, b.source, second.Generation); !errors.As(err, &ended) ||
		ended.Reason != providerauth.ReasonInterrupted {
		t.Errorf("after a lost answer: %v", err)
	}
}
