package main

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pdpp-go/pdpp/internal/storage/store/postgres/postgrestest"
)

// TestScriptsOnPostgres runs scripts once more, each in a schema of its own: of each kind of
// command one that does not speak of a database file. What the store does is held alike on both
// databases by its own suite.
func TestScriptsOnPostgres(t *testing.T) {
	names := []string{"run", "records", "gaps", "state", "cancel", "status", "schedule", "credential", "drift",
		"killed"}
	urls := make(chan string, len(names))
	var files []string
	for _, name := range names {
		urls <- postgrestest.NewDatabase(t)
		files = append(files, filepath.Join("testdata", name+".txtar"))
	}
	testscript.Run(t, testscript.Params{
		Files: files, Cmds: commands,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PDPP_DATABASE_URL", <-urls)
			return setupOrchard(env)
		},
	})
}

// TestMove moves a home to a server and back.
func TestMove(t *testing.T) {
	url := postgrestest.NewDatabase(t)
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "moved"), Cmds: commands,
		Setup: func(env *testscript.Env) error {
			env.Setenv("MOVE_URL", url)
			return setupOrchard(env)
		},
	})
}
