package launch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// failing is a store with FinishRun replaced by attempt. attempt may call finish, the real one, or return its own
// error.
type failing struct {
	store.Store
	attempts int
	attempt  func(n int, finish func() error) error // n counts from 1
}

func (s *failing) FinishRun(ctx context.Context, l store.Lease, o store.RunOutcome, now time.Time) error {
	s.attempts++
	return s.attempt(s.attempts, func() error { return s.Store.FinishRun(ctx, l, o, now) })
}

var errUnreachable = &store.FaultError{Fault: store.FaultUnreachable, Where: "db.example/pdpp",
	Err: errors.New("connection refused")}

// outage executes a run in virtual time, with attempt as FinishRun. It returns the time that recording took, because
// the connector takes none.
func outage(t *testing.T, b *bed, attempt func(n int, finish func() error) error) (r RunResult, attempts int,
	took time.Duration, err error) {
	t.Helper()
	l := b.launcher(t, "collects")
	st := &failing{Store: b.store, attempt: attempt}
	l.Store = st
	began := time.Now()
	r, err = l.Run(t.Context(), RunRequest{ConnectionID: connection, Trigger: store.TriggerManual})
	return r, st.attempts, time.Since(began), err
}

// The outcome of a run outlives an outage of the storage, as of the moment at
// which the run ended.
func TestOutcomeSurvivesAnOutage(t *testing.T) {
	for _, fault := range []error{
		errUnreachable,
		&store.FaultError{Fault: store.FaultLocked, Where: "pdpp.db", Err: errors.New("busy")},
		errors.New("something that the driver said"),
	} {
		for failures, want := range map[int]time.Duration{
			0: 0, 1: firstRecordPause, 3: 7 * firstRecordPause, 6: 31*firstRecordPause + longestRecordPause,
		} {
			synctest.Test(t, func(t *testing.T) {
				b := newBed(t)
				began := time.Now()
				r, attempts, took, err := outage(t, b, func(n int, finish func() error) error {
					if n <= failures {
						return fault
					}
					return finish()
				})
				if err != nil || attempts != failures+1 || took != want {
					t.Fatalf("%d failures: %d attempts in %v, want %v; %v", failures, attempts, took, want, err)
				}
				mustSucceed(t, r)
				if row := b.row(t, r.RunID); row.Status != store.RunSucceeded || !row.CompletedAt.Equal(began) {
					t.Errorf("run = %+v", row)
				}
				mustSucceed(t, b.run(t, "collects", RunRequest{})) // the connection is free
			})
		}
	}
}

// After an outage longer than the lease, another process recovers the run.
func TestOutcomeIsGivenUpWithTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t)
		r, attempts, took, err := outage(t, b, func(int, func() error) error { return errUnreachable })
		if !errors.Is(err, errUnreachable) || took != LeaseTTL || attempts < 5 {
			t.Fatalf("given up after %v and %d attempts: %v", took, attempts, err)
		}
		mustSucceed(t, r)
		if row := b.row(t, r.RunID); row.Status != store.RunRunning {
			t.Errorf("run = %+v", row)
		}
		ended, err := b.store.AbandonExpiredRuns(t.Context(), time.Now(), 10)
		if err != nil || len(ended) != 1 || ended[0].ID != r.RunID {
			t.Errorf("reclaimed = %+v, %v", ended, err)
		}
	})
}

// What the store answers is not asked twice.
func TestAnswerOfTheStoreIsFinal(t *testing.T) {
	for _, answer := range []error{store.ErrLeaseLost, store.ErrNotFound} {
		synctest.Test(t, func(t *testing.T) {
			_, attempts, took, err := outage(t, newBed(t), func(int, func() error) error { return answer })
			if !errors.Is(err, answer) || attempts != 1 || took != 0 {
				t.Errorf("%d attempts in %v: %v", attempts, took, err)
			}
		})
	}
}

// A connection that breaks between the commit and its answer leaves a run that
// is recorded; the second attempt finds it so.
func TestOutcomeWhoseAnswerIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t)
		r, attempts, _, err := outage(t, b, func(n int, finish func() error) error {
			if err := finish(); n > 1 {
				return err
			}
			return errUnreachable
		})
		if err != nil || attempts != 2 {
			t.Fatalf("%d attempts: %v", attempts, err)
		}
		if row := b.row(t, r.RunID); row.Status != store.RunSucceeded {
			t.Errorf("run = %+v", row)
		}
	})
}

// A run that was declared dead during the outage stays so, and its process gets an error.
func TestOutageInWhichTheRunIsTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t)
		r, attempts, _, err := outage(t, b, func(n int, finish func() error) error {
			if n > 1 {
				return finish()
			}
			if _, err := b.store.AbandonExpiredRuns(t.Context(), time.Now().Add(LeaseTTL), 10); err != nil {
				t.Error(err)
			}
			return errUnreachable
		})
		if !errors.Is(err, store.ErrLeaseLost) || attempts != 2 {
			t.Errorf("%d attempts: %v", attempts, err)
		}
		if row := b.row(t, r.RunID); row.Status != store.RunAbandoned {
			t.Errorf("run = %+v", row)
		}
	})
}

// deaf is a store that renews no lease after the first time.
type deaf struct {
	store.Store
	renewed int
}

func (s *deaf) RenewLease(ctx context.Context, l store.Lease, ttl time.Duration, now time.Time) (bool, error) {
	if s.renewed++; s.renewed > 1 {
		return false, errUnreachable
	}
	return s.Store.RenewLease(ctx, l, ttl, now)
}

// The time within which an outcome can be recorded begins with the last renewal
// that the store confirmed.
func TestLeaseIsHeldSinceItsLastRenewal(t *testing.T) {
	for name, c := range map[string]struct {
		wrap func(store.Store) store.Store
		want time.Duration
	}{
		"always": {func(s store.Store) store.Store { return s }, 3 * renewEvery},
		"once":   {func(s store.Store) store.Store { return &deaf{Store: s} }, renewEvery},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBed(t)
			l, began := b.launcher(t, "collects"), time.Now()
			l.Store = c.wrap(b.store)
			lease, err := b.store.StartRun(t.Context(),
				store.RunStart{RunID: "r", ConnectionID: connection, ConnectorID: "sample", TTL: LeaseTTL}, began)
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithTimeout(t.Context(), 3*renewEvery+time.Second)
			defer stop()
			if held := l.renewLease(ctx, lease, began,
				func(error) { t.Error("the run is stopped") }); held.Sub(began) != c.want {
				t.Errorf("%s: held since %v, want %v", name, held.Sub(began), c.want)
			}
		})
	}
}
