package service

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres/postgrestest"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
)

// TestMain plays the process that undoes an import and is killed.
func TestMain(m *testing.M) {
	if home := os.Getenv("PDPP_TEST_UNDO_HOME"); home != "" {
		fmt.Println(runUndoChild(home, os.Getenv("PDPP_TEST_UNDO_POSTGRES"), os.Getenv("PDPP_TEST_UNDO_IMPORT"),
			os.Getenv("PDPP_TEST_UNDO_AT")))
		return
	}
	os.Exit(m.Run())
}

// openUndone opens the PostgreSQL at url, or the embedded database of the home.
func openUndone(ctx context.Context, home, url string) (store.Store, error) {
	if url != "" {
		return postgres.Open(ctx, url, postgres.Options{})
	}
	return sqlite.Open(ctx, filepath.Join(home, "pdpp.db"), sqlite.Options{})
}

func runUndoChild(home, url, id, now string) error {
	at, err := time.Parse(time.RFC3339, now)
	if err != nil {
		return err
	}
	ctx := context.Background()
	st, err := openUndone(ctx, home, url)
	if err != nil {
		return err
	}
	s := New(Config{Store: st, Home: home, Database: "sqlite", Now: func() time.Time { return at },
		Connectors: catalog.Catalog{Dir: filepath.Join(home, "connectors"), Private: []string{home},
			Imports: filepath.Join(home, "imports")}})
	fmt.Println("begins")
	_, err = s.UndoImport(ctx, id)
	return errors.Join(err, st.Close())
}

// TestKilledUndo repeatedly kills the process that undoes an import, at random moments. Deleted records are counted
// once, and records that another file or the source delivered stay. The next request resumes the undo.
//
//pdpp:tier unraced
func TestKilledUndo(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		b, id := newAlbumHarness(t)
		killDuringUndo(b, id, "")
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		url := postgrestest.NewDatabase(t)
		st, err := postgres.Open(t.Context(), url, postgres.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = st.Close() }) // its database is thrown away
		b, id := newAlbumHarness(t, func(c *Config) { c.Store, c.Database = st, "postgres" })
		killDuringUndo(b, id, url)
	})
}

func killDuringUndo(b *serviceHarness, id, url string) {
	const many, both = 4000, 5
	t := b.t
	var lines strings.Builder
	for n := range many {
		fmt.Fprintf(&lines, "k%04d 1\n", n)
	}
	large := filepath.Join(b.home, "imports", id, "large.txt")
	b.requireNoError(os.MkdirAll(filepath.Dir(large), 0o700))
	b.requireNoError(os.WriteFile(large, []byte(lines.String()), 0o600))
	small := b.importTextFile(id, "small.txt", strings.Join(strings.SplitAfterN(lines.String(), "\n", both+1)[:both], ""))
	b.readFiles(id)
	all, err := b.Imports(b.ctx(), id)
	b.requireNoError(err)
	undone := ""
	for _, i := range all {
		if i.Name == "large.txt" {
			undone = i.ID
		}
	}
	b.requireNoError(os.Remove(large)) // which its owner put there
	r := rand.New(rand.NewPCG(7, 7))
	kills, between := 0, 0
	for round := range 10 {
		b.at = b.at.Add(20 * time.Minute) // what the dead one held ran out
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), "PDPP_TEST_UNDO_HOME="+b.home, "PDPP_TEST_UNDO_POSTGRES="+url,
			"PDPP_TEST_UNDO_IMPORT="+undone, "PDPP_TEST_UNDO_AT="+b.at.Format(time.RFC3339))
		out, err := cmd.StdoutPipe()
		b.requireNoError(err)
		b.requireNoError(cmd.Start())
		reader := bufio.NewReader(out)
		line, err := reader.ReadString('\n')
		if err != nil || line != "begins\n" {
			t.Fatalf("the process says %q: %v", line, err)
		}
		before, err := b.Store.Import(b.ctx(), undone)
		b.requireNoError(err)
		for more := int64(r.IntN(3)) * 500; round > 0; { // and then at any moment
			now, err := b.Store.Import(b.ctx(), undone)
			b.requireNoError(err)
			if now.Deleted-before.Deleted >= more || now.UndoneAt != nil {
				break
			}
		}
		b.requireNoError(cmd.Process.Kill())
		_ = cmd.Wait() // it was killed, or had ended
		kills++
		i, err := b.ImportByID(b.ctx(), undone)
		b.requireNoError(err)
		streams, err := b.Store.Streams(b.ctx(), id)
		b.requireNoError(err)
		if got := streams[1]; got.Deleted != i.Deleted || got.Records+got.Deleted != many+1 || i.Deleted > many-both {
			t.Fatalf("after %d kills %d are deleted by the receipt, and of the stream %+v", kills, i.Deleted, got)
		}
		if i.Deleted > 0 && i.Deleted < many-both {
			between++
		}
		if i.Status == api.ImportUndone {
			break
		}
	}
	b.at = b.at.Add(20 * time.Minute)
	done, err := b.UndoImport(b.ctx(), undone)
	b.requireNoError(err)
	streams, err := b.Store.Streams(b.ctx(), id)
	b.requireNoError(err)
	if done.Status != api.ImportUndone || done.Deleted != many-both || streams[1].Records != both+1 ||
		streams[1].Deleted != many-both {
		t.Errorf("in the end it is %+v, of the stream %+v", done, streams[1])
	}
	if still, err := b.ImportByID(b.ctx(), small.ID); err != nil || still.Status != api.ImportRead {
		t.Errorf("the other file is %+v: %v", still, err)
	}
	t.Logf("%d kills, %d of them with a part deleted", kills, between)
}
