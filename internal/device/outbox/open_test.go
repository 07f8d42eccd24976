package outbox

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
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
	for pragma, want := range map[string]string{"user_version": "5", "journal_mode": "wal", "synchronous": "2"} {
		var got string
		if err := o.db.QueryRow(`PRAGMA ` + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %q, %v, want %q", pragma, got, err, want)
		}
	}
}

func TestOpenToReadMakesNothing(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "missing", "notes.sqlite")
	if _, err := OpenToRead(t.Context(), path); !errors.Is(err, ErrNotFound) {
		t.Errorf("a missing file: %v", err)
	}
	empty := filepath.Join(folder, "empty.sqlite")
	check(t, os.WriteFile(empty, nil, 0o600))
	if _, err := OpenToRead(t.Context(), empty); !errors.Is(err, ErrNotFound) {
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
	for path, statement := range map[string]string{foreign: `CREATE TABLE songs (name TEXT)`,
		newer: `PRAGMA user_version = 6`} {
		db, err := sql.Open("sqlite", path)
		check(t, err)
		_, err = db.Exec(statement)
		check(t, err, db.Close())
	}
	for _, path := range []string{text, foreign, newer, folder} {
		before, _ := os.ReadFile(path)
		for name, open := range map[string]func() (*Outbox, error){
			"Open":       func() (*Outbox, error) { return Open(t.Context(), path) },
			"OpenToRead": func() (*Outbox, error) { return OpenToRead(t.Context(), path) },
		} {
			if o, err := open(); err == nil {
				o.Close()
				t.Errorf("%s took %s", name, filepath.Base(path))
			} else if path != text && path != folder &&
				!errors.Is(err, map[string]error{foreign: ErrForeign, newer: ErrNewer}[path]) {
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
	check(t, o.DeadLetter(t.Context(), "http_400", noon, o.mustClaim(t, 1, noon)[0]), o.Close())
	before, err := os.ReadFile(path)
	check(t, err)

	o, err = OpenToRead(t.Context(), path)
	check(t, err)
	counts, err := o.Counts(t.Context(), "src-a", noon)
	check(t, err)
	dead, err := o.DeadLetters(t.Context(), "src-a")
	check(t, err)
	check(t, o.Close())
	if counts.DeadLetter != 1 || len(dead) != 1 || counts.Pending != 1 {
		t.Errorf("read %+v, %v", counts, dead)
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

// What a killed process left in the log is read without being folded into the file.
func TestReadingBesideALog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.sqlite")
	o, err := Open(t.Context(), path)
	check(t, err)
	defer o.Close()
	o.mustEnqueue(t, noon, item("b1", RecordBatch))
	before, err := os.ReadFile(path)
	check(t, err)
	r, err := OpenToRead(t.Context(), path)
	check(t, err)
	counts, err := r.Counts(t.Context(), "src-a", noon)
	check(t, err, r.Close())
	after, err := os.ReadFile(path)
	check(t, err)
	if counts.Pending != 1 || !bytes.Equal(before, after) {
		t.Errorf("read %+v", counts)
	}
}

func TestDamagedFileIsSetAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.sqlite")
	check(t, os.WriteFile(path, bytes.Repeat([]byte("torn "), 2000), 0o600))
	if _, err := Open(t.Context(), path); !Damaged(err) {
		t.Fatalf("error %v", err)
	}
	name, err := SetAside(path, noon)
	check(t, err)
	if _, err := os.Stat(name); err != nil || name != path+".damaged-20260301T120000" {
		t.Errorf("%s: %v", name, err)
	}
	o, err := Open(t.Context(), path)
	check(t, err, o.Close())
}

// TestNumbersOnlyGrow verifies that a replacement queue continues with larger sequence numbers,
// regardless of the device's clock.
func TestNumbersOnlyGrow(t *testing.T) {
	folder, last := t.TempDir(), int64(0)
	for n := range 2 {
		o, err := Open(t.Context(), filepath.Join(folder, fmt.Sprint(n, ".sqlite")))
		check(t, err)
		for _, name := range []string{"b1", "b2"} {
			o.mustEnqueue(t, noon.AddDate(-10*n, 0, 0), item(name, RecordBatch))
			i := o.mustClaim(t, 1, noon)[0]
			if i.Seq <= last {
				t.Errorf("%d after %d", i.Seq, last)
			}
			last = i.Seq
			check(t, o.Ack(t.Context(), "", noon, i))
		}
		check(t, o.Prune(t.Context(), 1), o.Close())
	}
	// A queue that was lost goes on above what the server has seen.
	o, err := Open(t.Context(), filepath.Join(folder, "lost.sqlite"))
	check(t, err, o.CountFrom(t.Context(), 1), o.CountFrom(t.Context(), 1<<60))
	defer o.Close()
	o.mustEnqueue(t, noon, item("b1", RecordBatch))
	if i := o.mustClaim(t, 1, noon)[0]; i.Seq != 1<<60+1 {
		t.Errorf("number %d", i.Seq)
	}
}

func TestCompactGivesSpaceBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.sqlite")
	o, err := Open(t.Context(), path)
	check(t, err)
	defer o.Close()
	large := item("b1", RecordBatch)
	large.Payload = jsontext.Value(`"` + strings.Repeat("x", 4<<20) + `"`)
	o.mustEnqueue(t, noon, large)
	if n, err := o.Size(t.Context()); err != nil || n != int64(len(large.Payload)) {
		t.Errorf("%d bytes, %v", n, err)
	}
	check(t, o.Ack(t.Context(), "", noon, o.mustClaim(t, 1, noon)[0]))
	size := func() int64 {
		var pages int64
		check(t, o.db.QueryRow(`PRAGMA page_count`).Scan(&pages))
		return pages
	}
	full := size()
	check(t, o.Compact(t.Context(), 64<<20)) // not worth it
	if size() != full {
		t.Error("a small file was compacted")
	}
	check(t, o.Compact(t.Context(), 1<<20))
	if size()*10 > full {
		t.Errorf("%d of %d pages are left", size(), full)
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
				if err := o.Enqueue(t.Context(), []QueuedItem{item(fmt.Sprintf("%d-%d", h, n), RecordBatch)}, noon); err != nil {
					t.Error(err)
				}
				claimed, err := o.Claim(t.Context(), fmt.Sprint(h), 1, 1<<30, noon)
				if err != nil || len(claimed) != 1 {
					t.Errorf("claimed %v, %v", claimed, err)
					return
				}
				if err := o.Ack(t.Context(), "", noon, claimed[0]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	o, err := OpenToRead(t.Context(), path)
	check(t, err)
	defer o.Close()
	if counts, err := o.Counts(t.Context(), "", noon); err != nil || counts.Succeeded != handles*each ||
		counts.Total != handles*each {
		t.Errorf("at the end %+v, %v", counts, err)
	}
}
