package storetest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
)

// migrating begins the round of a child that is killed within a migration, and ends with its number.
const migrating = "migrating "

// Migrator migrates the database that a target names by the migrations that change returns for its own. Where a text
// has Deadly, the process must end by Die.
type Migrator func(ctx context.Context, target string, change func(fs.FS) (fs.FS, error)) error

// Deadly is a statement, for both databases, that ends the process of a Migrator.
const Deadly = "SELECT pdpp_test_die();"

// Die ends this process as SIGKILL does.
func Die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // the signal is on its way
}

// killMigration starts a child that dies after the last statement of a migration and before its commit.
func killMigration(t *testing.T, target string, version int64) {
	t.Helper()
	child := exec.Command(os.Args[0])
	round := fmt.Sprintf("%s%03d", migrating, version)
	child.Env = append(os.Environ(), killTarget+"="+target, killRound+"="+round, "GORACE=atexit_sleep_ms=0")
	out, err := child.CombinedOutput()
	var died *exec.ExitError
	if !errors.As(err, &died) || died.Exited() {
		t.Fatalf("the child was not killed within migration %d: %v\n%s", version, err, out)
	}
}

// migrateUntilKilled dies within the migration that the round names, which it invents if there is none. It returns only
// when something fails.
func migrateUntilKilled(target, round string, migrate Migrator) error {
	version := strings.TrimPrefix(round, migrating)
	err := migrate(context.Background(), target, func(files fs.FS) (fs.FS, error) {
		names, err := fs.Glob(files, "*.sql")
		changed, killed := fstest.MapFS{}, false
		for _, name := range names {
			var text []byte
			if text, err = fs.ReadFile(files, name); err != nil {
				break
			}
			if strings.HasPrefix(name, version+"_") {
				text, killed = append(text, Deadly...), true
			}
			changed[name] = &fstest.MapFile{Data: text}
		}
		if !killed {
			changed[version+"_next.sql"] = &fstest.MapFile{Data: []byte("CREATE TABLE next_version (id INTEGER);" +
				"DELETE FROM records;" + Deadly)}
		}
		return changed, err
	})
	return fmt.Errorf("migrate to %s: %w", version, err)
}
