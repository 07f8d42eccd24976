package outbox

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func TestOpenMakesAFileForItsOwnerAlone(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "state", "a folder? #1%20")
	path := filepath.Join(folder, "notes.sqlite")
	o, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	o.mustEnqueue(t, noon, item("b1", RecordBatch))
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) < 2 {
		t.Fatalf("%v beside the file, %v", entries, err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", e.Name(), info.Mode(), err)
		}
	}
	if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has mode %v, %v", info.Mode(), err)
	}
	for pragma, want := range map[string]string{"user_version": "3", "journal_mode": "wal", "synchronous": "2"} {
		var got string
		if err := o.db.QueryRow(`PRAGMA ` + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %q, %v, want %q", pragma, got, err, want)
		}
	}
}

func TestOpenExistingMakesNothing(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "missing", "notes.sqlite")
	if _, err := OpenExisting(t.Context(), path); !errors.Is(err, ErrNotFound) {
		t.Errorf("a missing file: %v", err)
	}
	empty := filepath.Join(folder, "empty.sqlite")
	check(t, os.WriteFile(empty, nil, 0o600))
	if _, err := OpenExisting(t.Context(), empty); !errors.Is(err, ErrNotFound) {
		t.Errorf("an empty file: %v", err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}

func TestWhatIsNoOutboxIsRefusedAndLeftAlone(t *testing.T) {
	folder := t.TempDir()
	text := filepath.Join(folder, "letter.txt")
	check(t, os.WriteFile(text, bytes.Repeat([]byte("Dear Ines, "), 500), 0o600))
	foreign, newer := filepath.Join(folder, "foreign.sqlite"), filepath.Join(folder, "newer.sqlite")
	for path, statement := range map[string]string{foreign: `CREATE TABLE songs (name TEXT)`, newer: `PRAGMA user_version = 4`} {
		db, err := sql.Open("sqlite", path)
		check(t, err)
		_, err = db.Exec(statement)
		check(t, err, db.Close())
	}
	for _, path := range []string{text, foreign, newer, folder} {
		before, _ := os.ReadFile(path)
		for name, open := range map[string]func() (*Outbox, error){
			"Open":         func() (*Outbox, error) { return Open(t.Context(), path) },
			"OpenExisting": func() (*Outbox, error) { return OpenExisting(t.Context(), path) },
		} {
			if o, err := open(); err == nil {
				o.Close()
				t.Errorf("%s took %s", name, filepath.Base(path))
			} else if path != text && !errors.Is(err, ErrForeign) && path != folder {
				t.Errorf("%s of %s: %v", name, filepath.Base(path), err)
			}
		}
		if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
			t.Errorf("%s was changed", filepath.Base(path))
		}
	}
}

func TestReadingLeavesTheFileAsItIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.sqlite")
	o, err := Open(t.Context(), path)
	check(t, err)
	o.mustEnqueue(t, noon, item("b1", RecordBatch), item("b2", RecordBatch))
	check(t, o.DeadLetter(t.Context(), o.mustClaim(t, 1, noon)[0], "http_400", noon), o.Close())
	before, err := os.ReadFile(path)
	check(t, err)

	o, err = OpenExisting(t.Context(), path)
	check(t, err)
	counts, err := o.Counts(t.Context(), "src-a", noon)
	check(t, err)
	dead, err := o.DeadLetters(t.Context(), "src-a")
	check(t, err)
	pending, err := o.Pending(t.Context(), "src-a")
	check(t, err, o.Close())
	if counts.DeadLetter != 1 || len(dead) != 1 || pending != 1 {
		t.Errorf("read %+v, %v, %d", counts, dead, pending)
	}
	after, err := os.ReadFile(path)
	check(t, err)
	if !bytes.Equal(before, after) {
		t.Error("reading changed the file")
	}
	if left, _ := filepath.Glob(path + "-*"); len(left) > 0 {
		t.Errorf("reading left %v", left)
	}
}

// Many open, fill and empty a file that none has made before.
func TestManyHandlesOnANewFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.sqlite")
	const handles, each = 6, 10
	var wg sync.WaitGroup
	for h := range handles {
		wg.Go(func() {
			o, err := Open(t.Context(), path)
			if err != nil {
				t.Error(err)
				return
			}
			defer o.Close()
			for n := range each {
				if err := o.Enqueue(t.Context(), []Item{item(fmt.Sprintf("%d-%d", h, n), RecordBatch)}, noon); err != nil {
					t.Error(err)
				}
				claimed, err := o.Claim(t.Context(), fmt.Sprint(h), 1, 1<<30, noon)
				if err != nil || len(claimed) != 1 {
					t.Errorf("claimed %v, %v", claimed, err)
					return
				}
				if err := o.Ack(t.Context(), claimed[0], noon); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	o, err := OpenExisting(t.Context(), path)
	check(t, err)
	defer o.Close()
	if counts, err := o.Counts(t.Context(), "", noon); err != nil || counts.Succeeded != handles*each || counts.Total != handles*each {
		t.Errorf("at the end %+v, %v", counts, err)
	}
}
