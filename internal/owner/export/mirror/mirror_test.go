//pdpp:tier programs

package mirror

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/export"
)

// changingOwner has one stream whose changes are in memory: each key at its newest change.
type changingOwner struct {
	api.Owner
	changes []api.Record // in the order of their numbers
	last    int64
	purged  int64
	failAt  int // after this many pages
}

var moment = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func (o *changingOwner) change(key string, deleted bool) {
	o.changes = slices.DeleteFunc(o.changes, func(r api.Record) bool { return r.Key == key })
	o.last++
	r := api.Record{ConnectionID: "cin_one", Stream: "notes", Key: key, Seq: o.last, Version: o.last, Deleted: deleted,
		EmittedAt: moment, ChangedAt: moment.Add(time.Duration(o.last) * time.Second),
		Data: json.RawMessage(fmt.Sprintf(`{"id":%q,"n":%d}`, key, o.last))}
	if deleted {
		r.Data = json.RawMessage("null")
	}
	o.changes = append(o.changes, r)
}

func (o *changingOwner) Streams(context.Context, string) ([]api.Stream, error) {
	return []api.Stream{{ConnectionID: "cin_one", Name: "notes", LastSeq: o.last, PurgedSeq: o.purged,
		Fields: []string{"id", "n"}, FieldKinds: map[string]string{"id": "text", "n": "integer"}}}, nil
}

var errGone = errors.New("the server is gone")

func (o *changingOwner) Changes(_ context.Context, q api.ChangeQuery) (page []api.Record, err error) {
	if o.failAt > 0 {
		if o.failAt--; o.failAt == 0 {
			return nil, errGone
		}
	}
	for _, r := range o.changes {
		if r.Seq > q.After && len(page) < q.Limit {
			page = append(page, r)
		}
	}
	return page, nil
}

// state reads a mirror as its view does: the newest version of every key. It fails for a change that is twice there.
func state(folder string) (map[string]int64, error) {
	parts, err := filepath.Glob(filepath.Join(folder, "cin_one", "notes", "*.jsonl"))
	if err != nil {
		return nil, err
	}
	newest, seen := map[string]api.Record{}, map[int64]bool{}
	for _, path := range parts {
		body, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(body)) {
			var r api.Record
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			if seen[r.Seq] {
				return nil, fmt.Errorf("change %d is twice there", r.Seq)
			}
			seen[r.Seq] = true
			if r.Seq > newest[r.Key].Seq {
				newest[r.Key] = r
			}
		}
	}
	live := map[string]int64{}
	for key, r := range newest {
		if !r.Deleted {
			live[key] = r.Seq
		}
	}
	return live, nil
}

func (o *changingOwner) live() map[string]int64 {
	live := map[string]int64{}
	for _, r := range o.changes {
		if !r.Deleted {
			live[r.Key] = r.Seq
		}
	}
	return live
}

func testMirror(o api.Owner, folder string) Mirror {
	format, _ := export.FindFormat("jsonl")
	return Mirror{Owner: o, Format: format, To: placeOf(folder), PartSize: 7}
}

// Whatever changes, breaks off and is deleted for good, an update leaves the newest version of every record.
func TestMirrorFollows(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		folder := filepath.Join(base, fmt.Sprint(round))
		o := &changingOwner{}
		for range rapid.IntRange(1, 6).Draw(t, "updates") {
			for range rapid.IntRange(0, 40).Draw(t, "changes") {
				key := fmt.Sprintf("k%d", rapid.IntRange(0, 20).Draw(t, "key"))
				o.change(key, rapid.IntRange(0, 4).Draw(t, "kind") == 0)
			}
			gone := ""
			if rapid.IntRange(0, 5).Draw(t, "purge") == 0 && len(o.changes) > 0 {
				gone = o.changes[rapid.IntRange(0, len(o.changes)-1).Draw(t, "purged")].Key
				o.change(gone, true) // it is deleted first, and removed after that
				o.changes, o.purged = o.changes[:len(o.changes)-1], o.last
			}
			o.failAt = rapid.IntRange(0, 4).Draw(t, "fail")
			if _, err := testMirror(o, folder).Update(context.Background()); err != nil && !errors.Is(err, errGone) {
				t.Fatal(err)
			}
			o.failAt = 0
			if _, err := testMirror(o, folder).Update(context.Background()); err != nil {
				t.Fatal(err)
			}
			got, err := state(folder)
			if err != nil || !maps.Equal(got, o.live()) {
				t.Fatalf("mirror %v, want %v, %v", got, o.live(), err)
			}
			if gone != "" && contains(t, folder, fmt.Sprintf("%q", gone)) {
				t.Fatalf("%s was deleted for good, and is in a part", gone)
			}
		}
	})
}

func contains(t *rapid.T, folder, text string) bool {
	parts, err := filepath.Glob(filepath.Join(folder, "cin_one", "notes", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range parts {
		if body, err := os.ReadFile(path); err != nil || strings.Contains(string(body), text) {
			return true
		}
	}
	return false
}

// Both formats have a view, and a part that lacks its predecessor is reported.
func TestViewsAndHoles(t *testing.T) {
	t.Parallel()
	o := &changingOwner{}
	for i := range 20 {
		o.change(fmt.Sprint("k", i), false)
	}
	for _, name := range []string{"jsonl", "parquet"} {
		folder := t.TempDir()
		m := testMirror(o, folder)
		m.Format, _ = export.FindFormat(name)
		if _, err := m.Update(t.Context()); err != nil {
			t.Fatal(err)
		}
		sql, err := os.ReadFile(filepath.Join(folder, viewsFile))
		if err != nil || !strings.Contains(string(sql), `CREATE OR REPLACE VIEW "cin_one.notes" AS`) ||
			!strings.Contains(string(sql), "'cin_one/notes/*."+name+"'") {
			t.Errorf("views %s, %v", sql, err)
		}
	}
	folder := t.TempDir()
	m := testMirror(o, folder)
	if _, err := m.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	parts, err := m.parts(t.Context(), "cin_one/notes")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(folder, parts[0].name),
		filepath.Join(folder, "cin_one", "notes", "000000000002-000000000007.jsonl")); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Update(t.Context()); err == nil || !strings.Contains(err.Error(), "lacks the changes from 1 to 1") {
		t.Errorf("error %v", err)
	}
}

func TestFollowEnds(t *testing.T) {
	t.Parallel()
	o := &changingOwner{}
	ticks, passes := make(chan struct{}, 1), 0
	err := testMirror(o, t.TempDir()).Follow(t.Context(), ticks, func(Pass) {
		if passes++; passes == 1 {
			o.change("k", false)
			ticks <- struct{}{}
			return
		}
		close(ticks)
	})
	if err != nil || passes != 2 {
		t.Errorf("%d passes, %v", passes, err)
	}
}

// A folder has one mirror at a time, and a later pass has the time of its oldest new change, also when it rebuilds.
func TestFolderIsLocked(t *testing.T) {
	t.Parallel()
	o := &changingOwner{}
	m, ticks, passes := testMirror(o, t.TempDir()), make(chan struct{}, 1), []Pass{}
	o.change("before", false)
	err := m.Follow(t.Context(), ticks, func(p Pass) {
		if passes = append(passes, p); len(passes) == 1 {
			if err := m.Follow(t.Context(), nil, nil); !errors.Is(err, ErrInUse) {
				t.Errorf("a second mirror: %v", err)
			}
			o.change("k", false)
			ticks <- struct{}{}
			return
		}
		close(ticks)
	})
	if err != nil || len(passes) != 2 || passes[0].OldestAt != nil || passes[1].Rebuilt != 1 ||
		!passes[1].OldestAt.Equal(moment.Add(2*time.Second)) {
		t.Errorf("%+v, %v", passes, err)
	}
	if err := m.Follow(t.Context(), closedTicks(), func(Pass) {}); err != nil {
		t.Errorf("after the first one ended: %v", err)
	}
}

func closedTicks() <-chan struct{} {
	ticks := make(chan struct{})
	close(ticks)
	return ticks
}

// childVariable makes the test binary a mirror instead of running tests, so that it can be killed. The child runs no
// test and starts nothing.
const childVariable = "PDPP_TEST_MIRROR_FOLDER"

func TestMain(m *testing.M) {
	if folder := os.Getenv(childVariable); folder != "" {
		if err := playMirror(folder, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// playMirror mirrors changes that it reads as keys. After some steps, which are pages and parts, it prints a line and
// waits to be killed.
func playMirror(folder string, in io.Reader, out io.Writer) error {
	o := &changingOwner{}
	lines := bufio.NewScanner(in)
	steps := 0
	for lines.Scan() {
		if n, is := strings.CutPrefix(lines.Text(), "steps "); is {
			if _, err := fmt.Sscan(n, &steps); err != nil {
				return err
			}
			continue
		}
		key, deleted := strings.CutPrefix(lines.Text(), "-")
		o.change(key, deleted)
	}
	step := func() {
		if steps--; steps == 0 {
			fmt.Fprintln(out, "waiting")
			select {}
		}
	}
	m := testMirror(steppingOwner{o, step}, folder)
	m.Written = func(string) { step() }
	_, err := m.Update(context.Background())
	return err
}

// steppingOwner calls step before every page of changes.
type steppingOwner struct {
	*changingOwner
	step func()
}

func (o steppingOwner) Changes(ctx context.Context, q api.ChangeQuery) ([]api.Record, error) {
	o.step()
	return o.changingOwner.Changes(ctx, q)
}

// A mirror that is killed at any moment, in a bucket also between the bytes of a request and before its answer, loses
// no record and has none twice.
func TestMirrorIsKilled(t *testing.T) {
	t.Parallel()
	for name, rounds := range map[string]int{"folder": 80, "bucket": 60} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			place, held := t.TempDir(), &heldRequests{at: make(chan struct{})}
			if name == "bucket" {
				place, _ = startBucket(t, held.wrap)
			}
			o := &changingOwner{}
			var input strings.Builder
			random := rand.New(rand.NewPCG(3, 4))
			for range rounds {
				for range 20 {
					key, deleted := fmt.Sprintf("k%d", random.IntN(30)), random.IntN(5) == 0
					o.change(key, deleted)
					if deleted {
						key = "-" + key
					}
					input.WriteString(key + "\n")
				}
				steps := 1 + random.IntN(24)
				if name == "bucket" && random.IntN(2) == 0 {
					held.hold(1+random.IntN(12), random.IntN(2) == 0)
					steps = 0
				}
				kill(t, place, held.at, fmt.Sprintf("steps %d\n", steps)+input.String())
			}
			held.hold(0, false)
			if _, err := testMirror(o, place).Update(t.Context()); err != nil {
				t.Fatal(err)
			}
			got, err := state(downloaded(t, place))
			if err != nil || !maps.Equal(got, o.live()) {
				t.Errorf("%d records, want %d, %v", len(got), len(o.live()), err)
			}
			if name == "bucket" {
				t.Logf("%d kills during a request", held.count)
			}
		})
	}
}

// kill starts a mirror and kills it when it waits, when a request of it is held, or when it is done.
func kill(t *testing.T, place string, held <-chan struct{}, input string) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = append(os.Environ(), childVariable+"="+place)
	cmd.Stdin, cmd.Stderr = strings.NewReader(input), os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waits := make(chan struct{})
	go func() { defer close(waits); bufio.NewScanner(out).Scan() }()
	select {
	case <-waits:
	case <-held:
	}
	_ = cmd.Process.Kill()
	<-waits
	_ = cmd.Wait() // it was killed, or had ended
}
