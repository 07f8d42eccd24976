package launch

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

func (b *bed) waits(t *testing.T) []evidence.SenderWait {
	t.Helper()
	all, err := b.store.Evidence(t.Context(), evidence.Query{ConnectionIDs: []string{connection}})
	if err != nil || len(all) != 1 {
		t.Fatalf("evidence: %v, %v", all, err)
	}
	return all[0].Waits
}

// A wait is durable as soon as the connector reports it, whatever becomes of the run. No run starts before it is over,
// and a rejected run leaves nothing.
func TestNoRunStartsWithinAWait(t *testing.T) {
	b := newBed(t)
	clock := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	messages, done := make(chan struct{}), make(chan error, 1)
	l := b.launcher(t, "is told to wait")
	l.Now = func() time.Time { return clock }
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		_, err := l.Run(ctx, RunRequest{ConnectionID: connection, Trigger: store.TriggerScheduled,
			Options: runner.Options{Observe: func(u runner.Update) {
				if u.Message != "" {
					close(messages)
				}
			}},
		})
		done <- err
	}()
	<-messages
	want := evidence.SenderWait{Sender: "api", Until: clock.Add(time.Hour), Reason: protocol.WaitRetryAfter, At: clock}
	if got := b.waits(t); len(got) != 1 || got[0] != want {
		t.Errorf("while the run is under way the store knows %+v, want %+v", got, want)
	}
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}

	next := b.launcher(t, "collects")
	next.Now = func() time.Time { return want.Until.Add(-time.Second) }
	for _, trigger := range []store.Trigger{store.TriggerScheduled, store.TriggerRetry, store.TriggerManual,
		store.TriggerWebhook} {
		for _, recovery := range []bool{false, true} {
			_, err := next.Run(t.Context(), RunRequest{ConnectionID: connection, Trigger: trigger, RecoveryOnly: recovery,
				Started: func(string) { t.Error("a run started within the wait") }})
			var wait *WaitError
			if !errors.As(err, &wait) || !wait.Until.Equal(want.Until) || wait.Sender != "api" ||
				wait.Reason != protocol.WaitRetryAfter {
				t.Errorf("%s, recovery only %v: %v", trigger, recovery, err)
			}
		}
	}
	runs, err := b.store.ListRuns(t.Context(), store.RunQuery{ConnectionID: connection})
	if err != nil || len(runs) != 1 {
		t.Errorf("refused runs left %d rows, %v", len(runs)-1, err)
	}
	if _, err := b.store.ActiveLease(t.Context(), connection); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the lease is held: %v", err)
	}

	r, err := next.Run(t.Context(), RunRequest{ConnectionID: connection, Trigger: store.TriggerManual, AskAnyway: true})
	if err != nil {
		t.Fatal(err)
	}
	mustSucceed(t, r)
	if got := b.waits(t); len(got) != 0 {
		t.Errorf("the owner asked anyway, and %+v is still waited for", got)
	}
}
