package connectortest

import (
	"context"
	"testing"
	"time"

	"pdpp/internal/collect/allowance"
	"pdpp/internal/collect/launch"
	"pdpp/internal/collect/runner"
	"pdpp/internal/keep/credential"
	"pdpp/internal/keep/store"
)

// Drawing gives a function that executes one run, which must succeed, and names the allowances that it drew on. The
// same account has the same name.
func (b *Bed) Drawing(t *testing.T) func() []string {
	t.Helper()
	key, err := credential.LoadKey(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return func() []string {
		t.Helper()
		joined := &joinings{Store: b.Store}
		l := b.Launcher()
		l.Allowances = &allowance.Hub{Store: joined, Key: key, Host: "harbour", Now: b.now}
		r, err := l.Run(t.Context(), launch.Request{ConnectionID: Connection, Trigger: store.TriggerManual})
		if err != nil || r.Status != runner.Succeeded {
			t.Fatalf("run ended as %s: %v, %v\nstderr: %s", r.Status, err, r.Failure, r.StderrTail)
		}
		return joined.keys
	}
}

// joinings notes which allowances runs draw on.
type joinings struct {
	store.Store
	keys []string
}

func (j *joinings) JoinAllowance(ctx context.Context, l store.Lease, key, sender string, now time.Time) (store.Allowance, error) {
	j.keys = append(j.keys, key)
	return j.Store.JoinAllowance(ctx, l, key, sender, now)
}
