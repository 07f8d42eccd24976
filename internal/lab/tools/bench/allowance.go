package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"pdpp/connectors/example"
	"pdpp/internal/keep/credential"
	"pdpp/internal/keep/store"
	"pdpp/internal/keep/store/postgres"
	"pdpp/internal/keep/store/sqlite"
	"pdpp/providersim"
	"pdpp/providersim/lumen"
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
)

// measureAllowance compares runs that share an allowance with one that has it for itself, as real processes.
func measureAllowance(ctx context.Context, c config, dir string, r *report) error {
	if c.Only != "allowance" {
		return nil // it takes a quarter of an hour
	}
	p, err := build(ctx, dir)
	if err != nil {
		return err
	}
	p.env = append(p.env, "PDPP_EXAMPLE_PACING_MIN_INTERVAL_MS=10")
	var alone, refusedAlone float64
	for _, d := range []drawers{{1, 1, false}, {2, 1, false}, {4, 1, false}, {8, 1, false}, {2, 3, false}, {4, 3, false}, {8, 3, false}, {8, 3, true}} {
		var rate, refused float64
		if d.workers == 1 {
			rate, refused, err = p.draw(ctx, dir, "", d)
		} else if c.Postgres == "" {
			fmt.Println(d, "is left out: give --postgres or run make bench")
			continue
		} else {
			rate, err = inDatabase(ctx, c.Postgres, "pdpp_bench_allowance", func(dsn string) (rate float64, err error) {
				rate, refused, err = p.draw(ctx, dir, dsn, d)
				return rate, err
			})
		}
		if err != nil {
			return fmt.Errorf("%s: %w", d, err)
		}
		f := figure{Name: d.String(), Value: rate / allowanceRate, Unit: "of the limit", Note: fmt.Sprintf("%.2f of a thousand requests were refused", refused)}
		if d.runs == 1 {
			alone, refusedAlone = rate, refused
		} else {
			f.Value, f.Unit, f.AtLeast = rate/alone, "of what one run alone gets", 0.9
			f.Note += fmt.Sprintf("; of one run's %.2f", refusedAlone)
		}
		r.tell(f)
	}
	return nil
}

// draw gives how many requests pass in a second, and how many of a thousand are refused.
func (p programs) draw(ctx context.Context, dir, dsn string, d drawers) (rate, refused float64, err error) {
	home, err := os.MkdirTemp(dir, "allowance-")
	if err != nil {
		return 0, 0, err
	}
	account, err := lumen.Start(lumen.Config{Seed: 7, Events: 20_000, Latency: 20 * time.Millisecond})
	if err != nil {
		return 0, 0, err
	}
	defer account.Close()
	gate := account.Sim.Gate()
	for _, f := range []providersim.Fault{{Kind: providersim.Bucket, Rate: allowanceRate, Burst: 10}, {Kind: providersim.ShortPages, Items: 1}} {
		if _, err := gate.Add(f); err != nil {
			return 0, 0, err
		}
	}
	if err := plantDrawers(ctx, home, dsn, account, d.runs); err != nil {
		return 0, 0, err
	}
	slots := fmt.Sprint((d.runs + d.workers - 1) / d.workers)
	for i := range d.workers {
		s, err := p.serve(ctx, home, dsn, "--role", "worker", "--can", "network", "--slots", slots, "--slots-per-provider", slots)
		if err != nil {
			return 0, 0, err
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
		return 0, 0, err
	}
	after, err := passedAfter(ctx, gate, allowanceTime)
	requests, throttled := float64(after.Requests-before.Requests), float64(after.Throttled-before.Throttled)
	return (requests - throttled) / allowanceTime.Seconds(), 1000 * throttled / requests, err
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
func plantDrawers(ctx context.Context, home, dsn string, account *lumen.Server, n int) (err error) {
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
		values, err := credential.NewValues(example.Connector().Manifest, map[string]string{"PDPP_EXAMPLE_TOKEN": account.Sim.Token(), "PDPP_EXAMPLE_BASE_URL": account.BaseURL})
		if err != nil {
			return err
		}
		if err := st.CreateConnection(ctx, store.Connection{ID: id, ConnectorID: "example", DisplayName: id, Status: store.ConnectionActive, SourceKind: store.SourceAccount, CreatedAt: now, UpdatedAt: now}); err != nil {
			return err
		}
		err = st.PutCredential(ctx, store.Credential{ConnectionID: id, Kind: "personal_access_token", Sealed: values.SealFor(key, id), Fingerprint: key.FingerprintOf(values), Status: store.CredentialActive, CapturedAt: now})
		if err != nil {
			return err
		}
		if _, err := st.RequestRun(ctx, store.RunRequest{ConnectionID: id, Trigger: store.TriggerManual, RequestedAt: now}); err != nil {
			return err
		}
	}
	return nil
}
