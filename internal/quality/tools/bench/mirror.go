package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
)

const (
	mirrorEvery  = time.Second // the shortest that the command accepts
	mirrorPasses = 20
)

// measureMirror compares the first pass of a mirror with an export of the same records, and measures how old the
// oldest change of a later pass is when it is there, in a folder and in a bucket. The programs are the shipped ones.
func measureMirror(ctx context.Context, c config, dir string, r *report) error {
	p, err := build(ctx, dir)
	if err != nil {
		return err
	}
	home := filepath.Join(dir, "mirrored")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	st, err := sqlite.Open(ctx, filepath.Join(home, "pdpp.db"), sqlite.Options{})
	if err != nil {
		return err
	}
	defer st.Close()
	if err := keep(ctx, st, 0, c.Records); err != nil {
		return err
	}
	backend := s3mem.New()
	if err := backend.CreateBucket("life"); err != nil {
		return err
	}
	bucket := httptest.NewServer(gofakes3.New(backend).Server())
	defer bucket.Close()
	pdpp := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, p.pdpp, args...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "PDPP_HOME=" + home, "AWS_ACCESS_KEY_ID=harbour",
			"AWS_SECRET_ACCESS_KEY=harbour-secret-0001"}
		cmd.Stderr = os.Stderr
		return cmd
	}
	rate := func(args ...string) (float64, error) {
		began := time.Now()
		err := pdpp(args...).Run()
		return float64(c.Records) / time.Since(began).Seconds(), err
	}
	places := []string{filepath.Join(dir, "mirror-"), "s3://life/mirror-"}
	for i, kind := range []string{"folder", "bucket"} {
		var ours, exported []float64
		for round := range c.Rounds {
			e, err := rate("export", "--output", filepath.Join(dir, fmt.Sprint("exported", i, round)))
			if err != nil {
				return err
			}
			m, err := rate("mirror", fmt.Sprint(places[i], round, query(kind, bucket.URL)))
			if err != nil {
				return err
			}
			ours, exported = append(ours, m), append(exported, e)
		}
		r.compare("first pass of a mirror in a "+kind+" against an export", ours, exported, 0.5)
		follow := pdpp("mirror", fmt.Sprint(places[i], 0, query(kind, bucket.URL)), "--follow", "--every",
			mirrorEvery.String(), "--json")
		lags, err := measureLag(ctx, st, follow, kind)
		if err != nil {
			return err
		}
		slices.Sort(lags)
		p95 := percentile(lags, 0.95)
		r.tell(figure{Name: "mirror in a " + kind + ": oldest change of a pass, p95", Value: p95,
			Unit: "s", Below: 2 * mirrorEvery.Seconds(), Note: fmt.Sprintf("--every %s, p50 %.2f s, %d passes of %d records",
				mirrorEvery, percentile(lags, 0.5), len(lags), c.Records)})
	}
	return nil
}

func query(kind, endpoint string) string {
	if kind == "folder" {
		return ""
	}
	return "?endpoint=" + endpoint
}

// measureLag commits small slices while a mirror follows. It returns how many seconds before the end of each pass the
// oldest change of that pass was committed.
func measureLag(ctx context.Context, st store.Store, follow *exec.Cmd, run string) (lags []float64, err error) {
	out, err := follow.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := follow.Start(); err != nil {
		return nil, err
	}
	defer func() { _ = follow.Process.Kill(); _ = follow.Wait() }()
	passes := json.NewDecoder(out)
	var pass struct {
		OldestAt *time.Time `json:"oldest_change_at"`
	}
	if err := passes.Decode(&pass); err != nil { // of what was there before
		return nil, err
	}
	writing, stop := context.WithCancel(ctx)
	written := make(chan error, 1)
	go func() { written <- writeSlowly(writing, st, run) }()
	for len(lags) < mirrorPasses {
		pass.OldestAt = nil
		if err := passes.Decode(&pass); err != nil {
			stop()
			return nil, errors.Join(err, <-written)
		}
		if pass.OldestAt != nil {
			lags = append(lags, time.Since(*pass.OldestAt).Seconds())
		}
	}
	stop()
	return lags, <-written
}

// writeSlowly commits a slice of ten records fifty times a second until the context ends.
func writeSlowly(ctx context.Context, st store.Store, run string) error {
	now := time.Now()
	l, err := st.StartRun(ctx, store.RunStart{RunID: "run_mirror_" + run, ConnectionID: "cin_kept_00", ConnectorID: "kept",
		Trigger: store.TriggerManual, Holder: "bench", TTL: time.Hour, Streams: []store.StreamSpec{{Name: "chats"}}}, now)
	if err != nil {
		return err
	}
	ticks := time.NewTicker(20 * time.Millisecond)
	defer ticks.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return st.FinishRun(context.WithoutCancel(ctx), l, store.RunOutcome{Status: store.RunSucceeded,
				Event: slice.Event{Type: "run.completed"}}, time.Now())
		case <-ticks.C:
		}
		var batch []slice.Record
		for i := range 10 {
			batch = append(batch, slice.Record{Stream: "chats", Key: fmt.Sprint("new", run, n, i),
				Data:      fmt.Appendf(nil, `{"id":"new%s%d%d","title":"Conversation"}`, run, n, i),
				EmittedAt: "2026-01-02T03:04:05Z"})
		}
		if _, err := st.CommitSlice(context.WithoutCancel(ctx), l, slice.Slice{Records: batch}, time.Now()); err != nil {
			return err
		}
	}
}
