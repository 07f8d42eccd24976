package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/pdpp-go/pdpp/connectors/example"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/sample"
)

// drawers are connections of one account, and the workers that collect it.
type drawers struct {
	runs, workers int
	killed        bool // one worker, before it is measured
}

func (d drawers) String() string {
	text := fmt.Sprintf("%d runs on one allowance, %d worker", d.runs, d.workers)
	if d.workers > 1 {
		text += "s over PostgreSQL"
	}
	if d.killed {
		text += ", one killed"
	}
	return text
}

const (
	allowanceRate = 20.0             // requests in a second that the account allows
	allowanceWarm = 40 * time.Second // in which the pace is found, and leases of the killed end
	allowanceTime = 60 * time.Second
	leastRefused  = 0.1 // of a thousand; less than one in all is no measure
)

// measureAllowance compares runs that share an allowance with one that has it for itself, as real processes.
func measureAllowance(ctx context.Context, c config, dir string, r *report) error {
	p, err := build(ctx, dir)
	if err != nil {
		return err
	}
	p.env = append(p.env, "PDPP_EXAMPLE_PACING_MIN_INTERVAL_MS=10")
	var alone drawn
	for _, d := range []drawers{{1, 1, false}, {2, 1, false}, {4, 1, false}, {8, 1, false}, {2, 3, false}, {4, 3, false},
		{8, 3, false}, {8, 3, true}} {
		var x drawn
		if d.workers == 1 {
			x, err = p.draw(ctx, dir, "", d)
		} else if c.Postgres == "" {
			fmt.Println(d, "is left out: give --postgres or run make bench")
			continue
		} else {
			_, err = inDatabase(ctx, c.Postgres, "pdpp_bench_allowance", func(dsn string) (_ float64, err error) {
				x, err = p.draw(ctx, dir, dsn, d)
				return x.rate, err
			})
		}
		if err != nil {
			return fmt.Errorf("%s: %w", d, err)
		}
		passed := figure{Name: d.String(), Value: x.rate / allowanceRate, Unit: "of the limit"}
		refused := figure{Name: "  refused", Value: x.refused, Unit: "of 1000 from the start on",
			Note: fmt.Sprintf("%.2f once the pace was found", x.later)}
		if d.runs == 1 {
			alone = x
		} else {
			passed.Value, passed.Unit, passed.AtLeast = x.rate/alone.rate, "of what one run alone gets", 0.9
			refused.Value, refused.Unit, refused.Below = x.refused/max(alone.refused, leastRefused), "times as often as one", 2
			refused.Note = fmt.Sprintf("%.2f of 1000 from the start on, %s", x.refused, refused.Note)
		}
		r.tell(passed)
		r.tell(refused)
	}
	return nil
}

// drawn is how many requests passed in a second, and how many of a thousand were refused: from the start on, so that
// they are enough to compare, and once the pace was found.
type drawn struct{ rate, refused, later float64 }

func (p programs) draw(ctx context.Context, dir, dsn string, d drawers) (x drawn, err error) {
	home, err := os.MkdirTemp(dir, "allowance-")
	if err != nil {
		return x, err
	}
	account, err := sample.Start(sample.Config{Seed: 7, Events: 20_000, Latency: 20 * time.Millisecond})
	if err != nil {
		return x, err
	}
	defer account.Close()
	gate := account.Sim.Gate()
	for _, f := range []providersim.Fault{{Kind: providersim.Bucket, Rate: allowanceRate, Burst: 10},
		{Kind: providersim.ShortPages, Items: 1}} {
		if _, err := gate.Add(f); err != nil {
			return x, err
		}
	}
	if err := plantDrawers(ctx, home, dsn, account, d.runs); err != nil {
		return x, err
	}
	slots := fmt.Sprint((d.runs + d.workers - 1) / d.workers)
	for i := range d.workers {
		s, err := p.serve(ctx, home, dsn, "--role", "worker", "--can", "network", "--slots", slots, "--slots-per-provider",
			slots)
		if err != nil {
			return x, err
		}
		if i == 0 && d.killed {
			time.AfterFunc(allowanceWarm/4, func() { _ = s.cmd.Process.Kill() })
			defer func() { _ = s.cmd.Wait() }()
			continue
		}
		defer func() {
			_, stopErr := s.stop()
			err = errors.Join(err, stopErr)
		}()
	}
	before, err := passedAfter(ctx, gate, allowanceWarm)
	if err != nil {
		return x, err
	}
	after, err := passedAfter(ctx, gate, allowanceTime)
	perThousand := func(since providersim.Stats) float64 {
		return 1000 * float64(after.Throttled-since.Throttled) / float64(max(1, after.Requests-since.Requests))
	}
	passed := after.Requests - after.Throttled - (before.Requests - before.Throttled)
	return drawn{float64(passed) / allowanceTime.Seconds(), perThousand(providersim.Stats{}), perThousand(before)}, err
}

func passedAfter(ctx context.Context, g *providersim.Gate, d time.Duration) (providersim.Stats, error) {
	select {
	case <-ctx.Done():
		return providersim.Stats{}, ctx.Err()
	case <-time.After(d):
		return g.Stats(), nil
	}
}

// plantDrawers makes connections of one account that are due at once.
func plantDrawers(ctx context.Context, home, dsn string, account *sample.Server, n int) (err error) {
	var st store.Store
	if dsn == "" {
		st, err = sqlite.Open(ctx, filepath.Join(home, "pdpp.db"), sqlite.Options{})
	} else {
		st, err = postgres.Open(ctx, dsn, postgres.Options{})
	}
	if err != nil {
		return err
	}
	defer st.Close()
	key, err := credential.LoadKey(home)
	if err != nil {
		return err
	}
	now := time.Now()
	for i := range n {
		id := fmt.Sprintf("cin_draw_%d", i)
		values, err := credential.NewValues(example.Connector().Manifest,
			map[string]string{"PDPP_EXAMPLE_TOKEN": account.Sim.Token(), "PDPP_EXAMPLE_BASE_URL": account.BaseURL})
		if err != nil {
			return err
		}
		if err := st.CreateConnection(ctx, store.Connection{ID: id, ConnectorID: "example", DisplayName: id,
			Status: store.ConnectionActive, SourceKind: store.SourceAccount, CreatedAt: now, UpdatedAt: now}); err != nil {
			return err
		}
		err = st.PutCredential(ctx, store.Credential{ConnectionID: id, Kind: "personal_access_token",
			Sealed: values.SealFor(key, id), Fingerprint: key.FingerprintOf(values), Status: store.CredentialActive,
			CapturedAt: now})
		if err != nil {
			return err
		}
		if _, err := st.RequestRun(ctx, store.RunRequest{ConnectionID: id, Trigger: store.TriggerManual,
			RequestedAt: now}); err != nil {
			return err
		}
	}
	return nil
}
