package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
)

// measured is what one collecting process reports of itself.
type measured struct {
	Records int     `json:"records"`
	Seconds float64 `json:"seconds"`
	PeakRSS int64   `json:"peak_rss"`
}

// collectMain runs one connector into one store and prints what it took.
func collectMain(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("collect", flag.ContinueOnError)
	connectors := f.String("connectors", "", "connectors directory")
	database := f.String("database", "", "file, or URL of PostgreSQL")
	records := f.Int("records", 0, "records to emit")
	unchecked := f.Bool("unchecked", false,
		"do not hold records to their schema, as those of a built-in connector are not")
	if err := f.Parse(args); err != nil {
		return err
	}
	st, err := openStore(ctx, *database)
	if err != nil {
		return err
	}
	defer st.Close()
	now := time.Now()
	err = st.CreateConnection(ctx, store.Connection{ID: "bench", ConnectorID: "bench", DisplayName: "Bench",
		Status: store.ConnectionActive, SourceKind: store.SourceManual, CreatedAt: now, UpdatedAt: now})
	if err != nil {
		return err
	}
	found, err := catalog.Catalog{Dir: *connectors}.Find(ctx, "bench")
	if err != nil {
		return err
	}
	found.Builtin = *unchecked
	l := &launch.Launcher{
		Store: st, Connectors: catalog.Fixed(found), Holder: "bench",
		Lookup: func(name string) (string, bool) { return strconv.Itoa(*records), name == "PDPP_BENCH_RECORDS" },
	}
	begin := time.Now()
	result, err := l.Run(ctx, launch.RunRequest{ConnectionID: "bench", Trigger: store.TriggerManual})
	if err != nil {
		return err
	}
	took := time.Since(begin)
	if result.Status != runner.Succeeded {
		return fmt.Errorf("run ended as %s: %w", result.Status, errors.New(result.Failure.Error()))
	}
	info, err := st.Streams(ctx, "bench")
	if err != nil {
		return err
	}
	if len(info) != 1 || info[0].Records != int64(*records) {
		return fmt.Errorf("stored %+v, want %d records", info, *records)
	}
	peak, err := peakRSS()
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(measured{Records: *records, Seconds: took.Seconds(), PeakRSS: peak})
}

// peakRSS reads this process's own high-water mark. getrusage would not do: it
// starts from the memory of the process that forked this one.
func peakRSS() (int64, error) {
	kib, err := statusField("/proc/self/status", "VmHWM")
	return kib << 10, err
}

func openStore(ctx context.Context, database string) (store.Store, error) {
	if strings.Contains(database, "://") {
		return postgres.Open(ctx, database, postgres.Options{})
	}
	return sqlite.Open(ctx, database, sqlite.Options{})
}

// collect runs collectMain in a process of its own.
func collect(ctx context.Context, dir, database string, records int, search bool, more ...string) (measured, error) {
	connectors, err := os.MkdirTemp(dir, "connectors-")
	if err != nil {
		return measured{}, err
	}
	if err := install(connectors, search); err != nil {
		return measured{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return measured{}, err
	}
	args := append([]string{"collect", "--connectors", connectors, "--database", database, "--records",
		strconv.Itoa(records)}, more...)
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return measured{}, fmt.Errorf("collect into %s: %w", filepath.Base(database), err)
	}
	var m measured
	return m, json.Unmarshal(out, &m)
}
