package main

import (
	"maps"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pdpp-go/pdpp/internal/storage/store/postgres/postgrestest"
)

// TestDumpHoldsDeleted takes dumps of PostgreSQL around a deletion, and lets the program name what each of them still
// holds.
func TestDumpHoldsDeleted(t *testing.T) {
	url := postgrestest.NewDatabase(t)
	all := maps.Clone(commands)
	// dump FILE begins a dump in a later second than what was done before: its header has whole seconds.
	all["dump"] = func(ts *testscript.TestScript, _ bool, args []string) {
		nextSecond()
		ts.Check(ts.Exec("pg_dump", "--format=custom", "--compress=0", "--file="+ts.MkAbs(args[0]), url))
	}
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "dump"), Cmds: all,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PDPP_DATABASE_URL", url)
			return setupOrchard(env)
		},
	})
}

// nextSecond waits until the clock shows another second.
func nextSecond() {
	now := time.Now()
	<-time.After(now.Truncate(time.Second).Add(time.Second).Sub(now))
}
