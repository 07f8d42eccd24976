package codex_test

import (
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/inprocess"
	"github.com/pdpp-go/pdpp/connectors/codex"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/files"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDriftFiles(t, target(t), codex.Connector())
}

// indexed adds Codex's index to a folder, with a row for each rollout and for threads without one.
func indexed(world files.World, extra ...string) (files.World, error) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(world.Root(), "state_5.sqlite"))
	if err != nil {
		return nil, err
	}
	defer db.Close()
	statements := []string{`CREATE TABLE _sqlx_migrations (version BIGINT)`,
		`CREATE TABLE threads (id TEXT, rollout_path TEXT, created_at INTEGER, updated_at INTEGER, source TEXT, ` +
			`model_provider TEXT, cwd TEXT, title TEXT, sandbox_policy TEXT, approval_mode TEXT, tokens_used INTEGER, ` +
			`has_user_event INTEGER, archived INTEGER, archived_at INTEGER, git_sha TEXT, git_branch TEXT, ` +
			`git_origin_url TEXT, cli_version TEXT, first_user_message TEXT, agent_nickname TEXT, agent_role TEXT, ` +
			`memory_mode TEXT, model TEXT, reasoning_effort TEXT, agent_path TEXT, created_at_ms INTEGER, ` +
			`updated_at_ms INTEGER, thread_source TEXT, preview TEXT, recency_at INTEGER, recency_at_ms INTEGER, ` +
			`history_mode TEXT, name TEXT, is_pinned INTEGER, thread_section_id TEXT, section_position INTEGER, ` +
			`section_entered_at_ms INTEGER, project_id TEXT)`}
	err = filepath.WalkDir(world.Root(), func(at string, entry fs.DirEntry, err error) error {
		if name := filepath.Base(at); err == nil && strings.HasPrefix(name, "rollout-") {
			name, _, _ = strings.Cut(name, ".")
			extra = append(extra, name[len("rollout-2026-03-01T08-00-00-"):])
		}
		return err
	})
	for _, id := range extra {
		statements = append(statements, "INSERT INTO threads (id, updated_at) VALUES ('"+id+"', 1772355600)")
	}
	for _, s := range statements {
		_, failed := db.Exec(s)
		err = errors.Join(err, failed)
	}
	return world, err
}

// TestDriftThreads compares the schema of Codex's own index of threads.
func TestDriftThreads(t *testing.T) {
	t.Parallel()
	at := target(t)
	at.Make = func(dir string, c files.Config) (files.World, error) {
		world, err := files.Codex(dir, c)
		if err != nil {
			return nil, err
		}
		return indexed(world)
	}
	connectortest.DetectDriftFiles(t, at, codex.Connector(), providersim.Drifted{
		Add: []string{".", "threads"}, Remove: []string{"threads/git_sha"}, Retype: []string{"threads/title"}})
}

// TestDriftNumbers has an index with more threads than there are rollouts, at first and later.
func TestDriftNumbers(t *testing.T) {
	t.Parallel()
	for _, extra := range [][]string{nil, {"only-here"}} {
		world, err := files.Codex(t.TempDir(), files.Config{Seed: 4, Sessions: 3, Lines: 4})
		if err == nil {
			world, err = indexed(world, extra...)
		}
		if err != nil {
			t.Fatal(err)
		}
		k := inprocess.NewMemoryRunner(t, codex.Connector(), map[string]string{"CODEX_HOME": world.Root()})
		var more []protocol.AnswerDifference
		k.Observe = func(m protocol.Message) {
			if p, ok := m.(*protocol.Progress); ok && p.AnswerDrift != nil && p.Stream == "sessions" {
				more = append(more, p.AnswerDrift.Differences...)
			}
		}
		for range 2 {
			if more = nil; len(extra) > 0 {
				later := time.Now().Add(time.Minute)
				if err := os.Chtimes(filepath.Join(world.Root(), "state_5.sqlite"), later, later); err != nil {
					t.Fatal(err)
				}
			}
			if k.Run(); len(more) != len(extra) || len(more) > 0 && more[0].Kind != protocol.OtherTotal {
				t.Errorf("%d threads without a rollout: %+v", len(extra), more)
			}
		}
	}
}
