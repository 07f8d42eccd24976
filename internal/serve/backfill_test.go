package serve

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// steps is a store that is brought into line step by step: what is stored first, then its
// indexes.
type steps struct {
	store.Store
	each    func(ctx context.Context, n int) (done bool, err error)
	at      []time.Time
	indexed int
}

func (s *steps) BackfillDerived(ctx context.Context) (bool, error) {
	s.at = append(s.at, time.Now())
	return s.each(ctx, len(s.at))
}

func (s *steps) IndexFields(_ context.Context, above int64, _ time.Time) (bool, error) {
	s.indexed++
	return s.indexed > 1 && above == store.IndexAbove, nil
}

// While something is left to backfill, step follows step; otherwise it is checked periodically. A failed step is
// logged and waits as long. A step that the shutdown interrupts is neither.
func TestBackfillGoesStepByStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		ctx, end := context.WithCancel(t.Context())
		began := time.Now()
		st := &steps{each: func(ctx context.Context, n int) (bool, error) {
			switch n {
			case 1, 2:
				return false, nil
			case 3, 4:
				return true, nil
			case 5:
				return false, errors.New("the disk is full")
			default:
				<-ctx.Done()
				return false, ctx.Err()
			}
		}}
		s := newProcess(Config{Store: st, Now: time.Now, Log: slog.New(slog.NewTextHandler(&log, nil))})
		over := make(chan struct{})
		go func() {
			s.backfill(ctx)
			close(over)
		}()
		time.Sleep(3 * backfillEvery)
		end()
		<-over
		var after []time.Duration
		for _, at := range st.at {
			after = append(after, at.Sub(began))
			began = at
		}
		want := []time.Duration{0, backfillPause, backfillPause, backfillPause, backfillEvery, backfillEvery}
		if len(after) != len(want) {
			t.Fatalf("steps after %v, want %v", after, want)
		}
		for i := range want {
			if after[i] != want[i] {
				t.Errorf("steps after %v, want %v", after, want)
				break
			}
		}
		if strings.Count(log.String(), "level=WARN") != 1 || !strings.Contains(log.String(), "the disk is full") {
			t.Errorf("the log says %q", log.String())
		}
	})
}
