package connectortest

import (
	"context"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/collect/sharedquota"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/providersim"
)

// OneAllowancePerAccount shows that all runs of one account draw on one allowance, and those of the account that a
// mutation signs in instead on another.
func OneAllowancePerAccount(t *testing.T, target Target, other providersim.Mutation) {
	b := NewHarness(t, target)
	key, err := credential.LoadKey(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	run := func() []string {
		t.Helper()
		joined := &quotaMemberships{Store: b.Store}
		l := b.Launcher()
		l.Allowances = &sharedquota.Hub{Store: joined, Key: key, Host: "harbour", Now: b.currentTime}
		r, err := l.Run(t.Context(), launch.RunRequest{ConnectionID: Connection, Trigger: store.TriggerManual})
		if err != nil || r.Status != runner.Succeeded {
			t.Fatalf("run ended as %s: %v, %v\nstderr: %s", r.Status, err, r.Failure, r.StderrTail)
		}
		return joined.keys
	}
	first, again := run(), run()
	b.Sim.MutateData(t, other)
	if now := run(); len(first) != 1 || len(again) != 1 || len(now) != 1 || first[0] != again[0] || first[0] == now[0] {
		t.Errorf("they draw on %v, %v and, as another person, %v", first, again, now)
	}
}

// quotaMemberships notes which allowances runs draw on.
type quotaMemberships struct {
	store.Store
	keys []string
}

func (j *quotaMemberships) JoinAllowance(ctx context.Context, l store.Lease, key, sender string,
	now time.Time) (store.Allowance, error) {
	j.keys = append(j.keys, key)
	return j.Store.JoinAllowance(ctx, l, key, sender, now)
}
