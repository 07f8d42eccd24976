package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/pdpp-go/pdpp/internal/storage/store/storetest"
)

// The sizes between which what a pass costs should not grow.
const smallFleet, largeFleet = 10_000, 100_000

// measureDue measures passes of the scheduler over many connections of which the
// same thousand are due.
func measureDue(ctx context.Context, c config, dir string, r *report) error {
	home, err := os.MkdirTemp(dir, "fleet-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	if err := r.measureFleet(ctx, c, "SQLite", filepath.Join(home, "pdpp.db")); err != nil {
		return err
	}
	p, err := build(ctx, dir)
	if err != nil {
		return err
	}
	if err := r.restFleet(ctx, p, home); err != nil {
		return err
	}
	if c.Postgres == "" {
		fmt.Println("many connections on PostgreSQL are left out: give --postgres or run make bench")
		return nil
	}
	_, err = inDatabase(ctx, c.Postgres, "pdpp_bench_fleet", func(dsn string) (float64, error) {
		return 0, r.measureFleet(ctx, c, "PostgreSQL", dsn)
	})
	return err
}

func (r *report) measureFleet(ctx context.Context, c config, kind, database string) error {
	if err := enlarge(ctx, database, 0, smallFleet); err != nil {
		return err
	}
	small, err := passes(ctx, database, 2*c.Rounds)
	if err != nil {
		return err
	}
	if err := enlarge(ctx, database, smallFleet, largeFleet); err != nil {
		return err
	}
	large, err := passes(ctx, database, 2*c.Rounds)
	if err != nil {
		return err
	}
	r.compare(kind+", 100000 connections: looks at 1000 due, bare SQL", rates(large.Looks), rates(large.BareLooks), 0.5)
	r.compare(kind+", 100000 connections: whole pass, bare SQL", rates(large.Pass), rates(large.BarePass), 0.3)
	for _, x := range []figure{
		grown("looks at 1000 due", small.Looks, large.Looks, small.BareLooks, large.BareLooks),
		grown("pass with 1000 due", small.Pass, large.Pass, small.BarePass, large.BarePass),
		{Name: "pass with 1000 due, 100000 connections: runs queued", Value: median(rates(large.Pass)), Unit: "/s",
			AtLeast: 1000},
		{Name: "pass with 1000 due, 100000 connections: heap", Value: large.HeapMiB, Unit: "MiB", Below: 64,
			Note: fmt.Sprintf("%.1f with 10000", small.HeapMiB)},
		{Name: "pass with 1000 due, 100000 connections: peak RSS", Value: float64(large.PeakRSS) / (1 << 20), Unit: "MiB",
			Below: 96,
			Note:  fmt.Sprintf("%.1f with 10000", float64(small.PeakRSS)/(1<<20))},
	} {
		x.Name = kind + ", " + x.Name
		r.tell(x)
	}
	return nil
}

// grown compares how much longer ten times as many connections take with how much
// longer the bare statements take: the same rows lie on more pages, which is the
// database's own doing.
func grown(what string, small, large, bareSmall, bareLarge []float64) figure {
	ours, bare := best(large)/best(small), best(bareLarge)/best(bareSmall)
	return figure{Name: what + ", growth from 10000 to 100000 against bare SQL's", Value: ours / bare, Unit: "times",
		Below: 1.5,
		Note:  fmt.Sprintf("%.1f to %.1f ms, %.2f times; bare SQL %.2f times", best(small), best(large), ours, bare)}
}

// best is the shortest time: other work on the machine only ever adds, and the
// two sizes are measured at different moments.
func best(millis []float64) float64 { return slices.Min(millis) }

// rates are connections per second, of times in milliseconds.
func rates(millis []float64) []float64 {
	out := make([]float64, len(millis))
	for i, ms := range millis {
		out[i] = dueInPass / ms * 1000
	}
	return out
}

// enlarge grows the store from from connections to to. The first dueInPass of them are due.
func enlarge(ctx context.Context, database string, from, to int) error {
	opened, err := openStore(ctx, database)
	if err != nil {
		return err
	}
	defer opened.Close()
	if from == 0 {
		if err := storetest.FillEvidence(ctx, opened, dueInPass); err != nil {
			return fmt.Errorf("fill a store: %w", err)
		}
		from = dueInPass
	}
	return growFleet(ctx, opened.(storetest.Writable), from, to)
}

// passes runs passMain in a process of its own.
func passes(ctx context.Context, database string, rounds int) (m passed, err error) {
	self, err := os.Executable()
	if err != nil {
		return m, err
	}
	cmd := exec.CommandContext(ctx, self, "pass", "--database", database, "--rounds", strconv.Itoa(rounds))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return m, fmt.Errorf("make passes: %w", err)
	}
	return m, json.Unmarshal(out, &m)
}
