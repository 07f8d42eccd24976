package storetest

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// tokens stores an OAuth credential of the connection "c".
func tokens(t *testing.T, s store.Store) store.Credential {
	t.Helper()
	connect(t, s, "c")
	ends := Now.Add(time.Hour)
	c := store.Credential{ConnectionID: "c", Kind: "access_token", Sealed: []byte("pair 1"), Fingerprint: "f1",
		Status:     store.CredentialActive,
		CapturedAt: Now, Refresh: store.Refresh{Renewable: true, ExpiresAt: &ends}}
	ok(t, s.PutCredential(t.Context(), c))
	c.Generation = 1
	return c
}

func testRefreshing(t *testing.T, s store.Store) {
	ctx := t.Context()
	until := Now.Add(time.Minute)
	_, err := s.BeginRefresh(ctx, "c", 1, until, Now)
	fails(t, err, store.ErrNotFound)
	want := tokens(t, s)
	_, err = s.BeginRefresh(ctx, "c", 2, until, Now)
	fails(t, err, store.ErrStale)
	got, err := s.BeginRefresh(ctx, "c", 1, until, Now)
	ok(t, err)
	same(t, got, want)

	// A second caller waits until the mark expires.
	_, err = s.BeginRefresh(ctx, "c", 1, until.Add(time.Hour), until.Add(-time.Microsecond))
	var busy *store.RefreshActiveError
	if !errors.As(err, &busy) || !busy.Until.Equal(until) {
		t.Fatalf("a second one begins: %v", err)
	}
	// The first caller never finished: the next one learns that an answer may be lost.
	next := until.Add(time.Minute)
	got, err = s.BeginRefresh(ctx, "c", 1, next, until)
	ok(t, err)
	want.Refresh.Unanswered = true
	same(t, got, want)

	// A failure releases it, is counted, and keeps Unanswered.
	at, again := until.Add(time.Second), until.Add(31*time.Second)
	fails(t, s.FailRefresh(ctx, "c", 2, store.RefreshFailure{At: at, Next: again}), store.ErrStale)
	ok(t, s.FailRefresh(ctx, "c", 1, store.RefreshFailure{At: at, Next: again}))
	want.Refresh.Failures, want.Refresh.FailingSince, want.Refresh.NextAt = 1, &at, &again
	got, err = s.Credential(ctx, "c")
	ok(t, err)
	same(t, got, want)
	later := again.Add(time.Minute)
	got, err = s.BeginRefresh(ctx, "c", 1, later.Add(time.Minute), later)
	ok(t, err)
	same(t, got, want)
	ok(t, s.FailRefresh(ctx, "c", 1, store.RefreshFailure{At: later, Next: later, Unanswered: true}))
	want.Refresh.Failures, want.Refresh.NextAt = 2, &later
	got, err = s.Credential(ctx, "c")
	ok(t, err)
	same(t, got, want) // since the first of them

	// A success is a new generation, and clears everything else.
	_, err = s.BeginRefresh(ctx, "c", 1, later.Add(time.Minute), later)
	ok(t, err)
	ends := later.Add(time.Hour)
	made := want
	made.Sealed, made.Fingerprint, made.Refresh = []byte("pair 2"), "f2", store.Refresh{Renewable: true, ExpiresAt: &ends}
	ok(t, s.SaveRefreshed(ctx, made))
	fails(t, s.SaveRefreshed(ctx, made), store.ErrStale)
	made.Generation = 2
	got, err = s.Credential(ctx, "c")
	ok(t, err)
	same(t, got, made)

	// A sign-in in between takes precedence over a pending answer.
	_, err = s.BeginRefresh(ctx, "c", 2, later.Add(time.Minute), later)
	ok(t, err)
	fresh := made
	fresh.Sealed, fresh.CapturedAt = []byte("pair of a new sign-in"), later
	ok(t, s.PutCredential(ctx, fresh))
	fails(t, s.SaveRefreshed(ctx, made), store.ErrStale)
	got, err = s.BeginRefresh(ctx, "c", 3, later.Add(time.Minute), later)
	ok(t, err)
	same(t, got.Refresh.Unanswered, false)

	ok(t, s.RejectCredential(ctx, "c", "consent_withdrawn", fresh.CapturedAt, later))
	_, err = s.BeginRefresh(ctx, "c", 3, farFuture, later.Add(time.Hour))
	fails(t, err, store.ErrStale) // only the owner can fix it
	fresh.Status = store.CredentialRevoked
	ok(t, s.PutCredential(ctx, fresh))
	_, err = s.BeginRefresh(ctx, "c", 4, later.Add(time.Minute), later)
	fails(t, err, store.ErrNotFound)
	made.Generation = 4
	fails(t, s.SaveRefreshed(ctx, made), store.ErrStale)
}

// testRefreshRace checks that exactly one of many concurrent callers may refresh.
func testRefreshRace(t *testing.T, s store.Store) {
	tokens(t, s)
	outcomes := make([]error, 8)
	var wait sync.WaitGroup
	for i := range outcomes {
		wait.Go(func() { _, outcomes[i] = s.BeginRefresh(t.Context(), "c", 1, Now.Add(time.Minute), Now) })
	}
	wait.Wait()
	others := slices.DeleteFunc(slices.Clone(outcomes), func(err error) bool { return err == nil })
	if len(others) != len(outcomes)-1 {
		t.Fatalf("outcomes: %v", outcomes)
	}
	for _, err := range others {
		fails(t, err, store.ErrRefreshActive)
	}
}

func testSignIns(t *testing.T, s store.Store) {
	ctx := t.Context()
	connect(t, s, "c")
	over := Now.Add(10 * time.Minute)
	begun := store.SignIn{Mark: "m1", Binder: "session 1", ConnectionID: "c", Sealed: []byte{0, 0xff}, ExpiresAt: over}
	fails(t, s.PutSignIn(ctx, store.SignIn{Mark: "m0", ConnectionID: "nowhere", Sealed: []byte("x"), ExpiresAt: over},
		Now), store.ErrNotFound)
	ok(t, s.PutSignIn(ctx, begun, Now))
	_, err := s.TakeSignIn(ctx, "m1", "session 2", Now) // of another session
	fails(t, err, store.ErrNotFound)
	_, err = s.TakeSignIn(ctx, "m1", "session 1", over)
	fails(t, err, store.ErrNotFound)

	got, err := s.PollSignIn(ctx, "m1", "session 1", Now.Add(5*time.Second), Now)
	ok(t, err)
	same(t, got, begun)
	_, err = s.PollSignIn(ctx, "m1", "session 1", Now.Add(9*time.Second), Now.Add(4*time.Second))
	fails(t, err, store.ErrWaiting)
	_, err = s.PollSignIn(ctx, "m1", "session 2", Now, Now.Add(time.Minute))
	fails(t, err, store.ErrNotFound)
	_, err = s.PollSignIn(ctx, "m1", "session 1", Now, Now.Add(5*time.Second))
	ok(t, err)

	got, err = s.TakeSignIn(ctx, "m1", "session 1", Now)
	ok(t, err)
	same(t, got, begun)
	_, err = s.TakeSignIn(ctx, "m1", "session 1", Now) // once
	fails(t, err, store.ErrNotFound)

	// A second sign-in from the same session replaces the first.
	ok(t, s.PutSignIn(ctx, begun, Now))
	second := begun
	second.Mark = "m2"
	ok(t, s.PutSignIn(ctx, second, Now))
	_, err = s.TakeSignIn(ctx, "m1", "session 1", Now)
	fails(t, err, store.ErrNotFound)
	_, err = s.TakeSignIn(ctx, "m2", "session 1", Now)
	ok(t, err)
}

// checkSignIn reads a credential that is being refreshed, and takes a stored sign-in.
func checkSignIn(t *testing.T, s store.Store) {
	t.Helper()
	c, err := s.Credential(t.Context(), "c")
	ok(t, err)
	ends := time.Date(2026, 1, 1, 1, 0, 0, 0, time.UTC)
	same(t, c.Generation, 7)
	same(t, c.Refresh, store.Refresh{Renewable: true, ExpiresAt: &ends, Failures: 2})
	_, err = s.TakeSignIn(t.Context(), "mark", "session s1", Now)
	ok(t, err)
}
