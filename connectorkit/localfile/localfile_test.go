package localfile_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/klauspost/compress/zstd"

	"github.com/pdpp-go/pdpp/protocol"
)

func (c *collected) wantLines(want ...string) {
	c.t.Helper()
	slices.Sort(want)
	if got := c.lines(); !slices.Equal(got, want) {
		c.t.Fatalf("%d lines, want %d\n got %.300v\nwant %.300v", len(got), len(want), got, want)
	}
}

// quiet runs again and expects that nothing is written.
func (c *collected) quiet() {
	c.t.Helper()
	before := c.writes
	c.run()
	if c.writes != before {
		c.t.Fatalf("%d records were written although nothing changed", c.writes-before)
	}
}

// TestTailing holds what is read when files grow, shrink, move and change their form.
func TestTailing(t *testing.T) {
	t.Parallel()
	w := newTree(t)
	c := newCollected(t, logs(w.dir))
	w.write("logs/a.jsonl", ids("a1", "a2"))
	w.write("logs/deep/b.jsonl", ids("b1"))
	c.run()
	c.wantLines("a1", "a2", "b1")
	c.quiet()

	t.Log("half a line waits for its end")
	w.append("logs/a.jsonl", `{"id":"a`)
	c.run()
	c.wantLines("a1", "a2", "b1")
	w.append("logs/a.jsonl", "3\"}\n")
	emitted := c.emitted
	c.run()
	c.wantLines("a1", "a2", "a3", "b1")
	if n := c.emitted - emitted; n > 7 { // the line, two files whose times were too close, four stores
		t.Errorf("%d records were sent for one line", n)
	}
	if got := c.records["files"]["a"]; got != `{"id":"a","lines":3}` {
		t.Errorf("the file counts %s", got)
	}

	t.Log("a file that was moved is read on, one that was replaced is read whole")
	w.must(os.MkdirAll(w.path("logs/old"), 0o700))
	w.must(os.Rename(w.path("logs/a.jsonl"), w.path("logs/old/a.jsonl")))
	w.append("logs/old/a.jsonl", ids("a4"))
	emitted = c.emitted
	c.run()
	if got := c.records["files"]["a"]; got != `{"id":"a","lines":4}` || c.emitted-emitted > 6 {
		t.Errorf("the moved file counts %s, %d records were sent", got, c.emitted-emitted)
	}
	w.write("logs/b.new", ids("c1", "c2"))
	w.must(os.Rename(w.path("logs/b.new"), w.path("logs/deep/b.jsonl")))
	c.run()
	c.wantLines("a1", "a2", "a3", "a4", "b1", "c1", "c2")
	if got := c.records["files"]["b"]; got != `{"id":"b","lines":2}` {
		t.Errorf("the replaced file counts %s", got)
	}

	t.Log("a file that was cut and written anew")
	w.write("logs/old/a.jsonl", ids("d1"))
	c.run()
	c.wantLines("a1", "a2", "a3", "a4", "b1", "c1", "c2", "d1")

	t.Log("compressed, it has nothing new; in both forms neither")
	plain := ids("d1")
	enc, err := zstd.NewWriter(nil)
	w.must(err)
	w.write("logs/old/a.jsonl.zst", string(enc.EncodeAll([]byte(plain), nil)))
	c.quietLines()
	w.must(os.Remove(w.path("logs/old/a.jsonl")))
	c.quietLines()
	w.must(os.Remove(w.path("logs/old/a.jsonl.zst")))
	w.write("logs/a.jsonl", plain+ids("d2"))
	c.run()
	c.wantLines("a1", "a2", "a3", "a4", "b1", "c1", "c2", "d1", "d2")
	if got := c.records["files"]["a"]; got != `{"id":"a","lines":2}` {
		t.Errorf("the file that is plain again counts %s", got)
	}
	w.must(os.RemoveAll(w.path("logs")))
	c.run()
	c.wantLines("a1", "a2", "a3", "a4", "b1", "c1", "c2", "d1", "d2")
	if got := c.coverage("logs"); got.Status != "missing" {
		t.Errorf("a store without files is %s", got.Status)
	}
	for name, mark := range c.state {
		if strings.Contains(string(mark), "jsonl") {
			t.Errorf("the bookmark of %s still has files that are gone: %s", name, mark)
		}
	}
}

// quietLines runs and expects no line that is new.
func (c *collected) quietLines() {
	c.t.Helper()
	before := c.lines()
	c.run()
	c.wantLines(before...)
}

// TestCloseChange holds that a file that changed shortly before it was read is read once more: it may have
// changed again within the same tick of its clock.
func TestCloseChange(t *testing.T) {
	t.Parallel()
	w := newTree(t)
	c := newCollected(t, logs(w.dir))
	w.write("notes/a.md", "one")
	info, err := os.Stat(w.path("notes/a.md"))
	w.must(err)
	var sent []int
	for _, later := range []time.Duration{time.Second, time.Hour, 2 * time.Hour} {
		c.now = info.ModTime().Add(later)
		before := c.emitted
		c.run()
		sent = append(sent, c.emitted-before)
	}
	if sent[1] != sent[2]+1 {
		t.Errorf("sent %v: want the note in the first two runs", sent)
	}
}

// TestMalformed holds what is kept of files as crashes and editors leave them.
func TestMalformed(t *testing.T) {
	t.Parallel()
	w := newTree(t)
	c := newCollected(t, logs(w.dir))
	w.write("logs/bom.jsonl", "\xef\xbb\xbf"+ids("bom"))
	w.write("logs/crlf.jsonl", strings.ReplaceAll(ids("crlf1", "crlf2"), "\n", "\r\n"))
	w.write("logs/nul.jsonl", ids("nul1")+strings.Repeat("\x00", 5000)+"\n"+strings.Repeat("\x00", 70000)+ids("nul2"))
	w.write("logs/empty.jsonl", "")
	w.write("logs/blank.jsonl", "\n\n"+ids("blank")+"\n")
	w.write("logs/bad.jsonl", ids("bad1")+"{nonsense\n[]\n"+ids("bad2"))
	w.write("logs/long.jsonl", ids("long1")+`{"id":"`+strings.Repeat("x", 20<<20)+"\"}\n"+ids("long2"))
	w.write("logs/wide.jsonl", `{"fill":"`+strings.Repeat("x", 3<<20)+`","id":"wide"}`+"\n"+ids("wide2"))
	w.write("logs/cut.jsonl.zst", "\x28\xb5\x2f\xfdnothing")
	w.must(os.MkdirAll(w.path("logs/folder.jsonl"), 0o700))
	w.must(os.Symlink(w.path("logs"), w.path("logs/loop")))
	w.must(os.Symlink("/etc/passwd", w.path("logs/out.jsonl")))
	w.must(makePipe(w.path("logs/pipe.jsonl")))
	w.write("secret.json", "{}")
	w.write("surprise/thing.bin", "x")
	w.write("logs/notes.txt", "x")
	c.run()
	c.wantLines("bom", "crlf1", "crlf2", "nul1", "nul2", "blank", "bad1", "bad2", "long1", "long2", "wide", "wide2")
	got := c.coverage("logs")
	if got.FilesPresent != 11 || got.FilesRead != 8 || got.FilesUnreadable != 1 || got.FilesExcluded != 2 ||
		got.FilesWaiting != 0 {
		t.Errorf("account %+v", got)
	}
	if got.LinesByKind["malformed_line"] != 2 || got.LinesByKind["line_too_long"] != 1 || got.LinesSkipped != 3 {
		t.Errorf("skipped %v", got.LinesByKind)
	}
	reasons := map[string]int{}
	for _, g := range c.gaps {
		reasons[string(g.Reason)]++
	}
	if reasons["line_too_long"] != 1 || reasons["malformed_line"] != 1 || reasons["file_damaged"] != 1 ||
		len(c.gaps) != 3 {
		t.Errorf("gaps %v", reasons)
	}
	if got := c.coverage("unknown:surprise"); got.Status != "unaccounted" || got.FilesPresent != 1 {
		t.Errorf("%+v", got)
	}
	if got := c.coverage("unknown:logs/*.txt"); got.Status != "unaccounted" {
		t.Errorf("%+v", got)
	}
	if got := c.coverage("secret"); got.Status != "excluded" || got.FilesPresent != 1 {
		t.Errorf("%+v", got)
	}
	c.quiet()

	t.Log("what is readable again is recovered, what is gone is final, what is known again is no gap")
	enc, err := zstd.NewWriter(nil)
	w.must(err)
	w.write("logs/cut.jsonl.zst", string(enc.EncodeAll([]byte(ids("cut")), nil)))
	w.must(os.RemoveAll(w.path("surprise")))
	c.run()
	if len(c.gaps) != 2 || !slices.Contains(c.lines(), "cut") {
		t.Errorf("gaps %v, lines %v", c.gaps, c.lines())
	}
	if _, still := c.records["coverage_diagnostics"]["unknown:surprise"]; still {
		t.Error("what is gone is still not accounted for")
	}
}

// TestOldFilesAreRead holds that files with old times are found: moved in with their
// folder, or written after the clock was set back.
func TestOldFilesAreRead(t *testing.T) {
	t.Parallel()
	w := newTree(t)
	c := newCollected(t, logs(w.dir))
	w.write("aside/one/old.jsonl", ids("old"))
	w.write("logs/a.jsonl", ids("a"))
	c.run()
	c.run()
	w.must(os.Rename(w.path("aside/one"), w.path("logs/one"))) // the file's own times stay
	c.run()
	c.wantLines("a", "old")
	c.now = c.now.Add(-time.Hour)
	w.write("logs/b.jsonl", ids("b"))
	c.run()
	c.wantLines("a", "b", "old")
	c.quiet()
}

// TestHistory holds that new files come first, and history behind them by its own bookmark.
func TestHistory(t *testing.T) {
	t.Parallel()
	for _, lastWins := range []bool{false, true} {
		w := newTree(t)
		src := logs(w.dir)
		src.LastWins = lastWins
		c := newCollected(t, src)
		// Times of change cannot be set: the run's clock is set instead.
		w.write("logs/old.jsonl", ids("x1", "both"))
		w.must(os.Chtimes(w.path("logs/old.jsonl"), time.Time{}, time.Now()))
		w.write("logs/new.jsonl", ids("x2", "both"))
		future := time.Now().Add(6 * 24 * time.Hour)
		w.must(os.Chtimes(w.path("logs/new.jsonl"), future, future))
		c.now = time.Now().Add(8 * 24 * time.Hour)
		c.env = map[string]string{"PDPP_SOURCE_HISTORY": "waits"}
		c.run()
		c.wantLines("both", "x2")
		if got := c.records["coverage_diagnostics"]["logs"]; !strings.Contains(got, `"files_waiting":1`) {
			t.Errorf("history waits, and the account says %s", got)
		}
		c.env = nil
		c.run()
		c.wantLines("both", "x1", "x2")
		want := `{"file":"old","id":"both"}`
		if lastWins {
			want = `{"file":"new","id":"both"}`
		}
		if got := c.records["lines"]["both"]; got != want {
			t.Errorf("last wins %v: %s", lastWins, got)
		}
		if len(c.catchUp) != 0 {
			t.Errorf("the catch-up bookmark is still there: %v", c.catchUp)
		}
		c.quiet()
	}
}

// TestTornLine holds that the unfinished last line of a file that is complete is
// declared, and found again when it is finished after all.
func TestTornLine(t *testing.T) {
	t.Parallel()
	w := newTree(t)
	c := newCollected(t, logs(w.dir))
	w.write("logs/a.jsonl", ids("a1")+`{"id":`)
	c.run()
	if len(c.gaps) != 0 {
		t.Fatalf("a line in flight is a gap: %v", c.gaps)
	}
	info, err := os.Stat(w.path("logs/a.jsonl"))
	w.must(err)
	for gaps, age := range []time.Duration{7 * 24 * time.Hour, 7*24*time.Hour + time.Millisecond} {
		c.now = info.ModTime().Add(age)
		if c.run(); len(c.gaps) != gaps {
			t.Fatalf("after %v, gaps %v", age, c.gaps)
		}
	}
	c.quiet()
	w.append("logs/a.jsonl", "\"a2\"}\n")
	c.run()
	c.wantLines("a1", "a2")
	if len(c.gaps) != 0 {
		t.Errorf("the finished line is still a gap: %v", c.gaps)
	}
}

// TestKilled ends the run after every few lines of its output; nothing is lost, and no
// bookmark is ahead of what was sent.
func TestKilled(t *testing.T) {
	t.Parallel()
	w := newTree(t)
	var want []string
	for _, name := range []string{"a", "b", "c"} {
		list := numbered(name, 2500)
		want = append(want, list...)
		w.write("logs/"+name+".jsonl", ids(list...))
	}
	c := newCollected(t, logs(w.dir))
	for c.killAt = 1; ; c.killAt += 700 {
		if c.tryRun(); c.done != nil {
			break
		}
		for _, id := range c.lines() {
			if !slices.Contains(want, id) {
				t.Fatalf("line %s was invented", id)
			}
		}
	}
	c.wantLines(want...)
	for _, name := range []string{"a", "b", "c"} {
		if got := c.records["files"][name]; got != `{"id":"`+name+`","lines":2500}` {
			t.Errorf("file %s counts %s", name, got)
		}
	}
	if c.emitted > 3*len(want) {
		t.Errorf("%d records were sent for %d lines", c.emitted, len(want))
	}
}

// TestCursorIsBounded holds the size of the bookmark whatever the tree is.
//
//pdpp:tier unraced
func TestCursorIsBounded(t *testing.T) {
	t.Parallel()
	w := newTree(t)
	for i, id := range numbered("f", 1500) {
		w.write(filepath.Join("logs", id[:4], id+".jsonl"), ids(id))
		if i%3 == 0 {
			w.write("cache/"+id, "x")
		}
	}
	c := newCollected(t, logs(w.dir))
	c.now = c.now.Add(10 * time.Second)
	c.run()
	if n := len(c.lines()); n != 1500 {
		t.Fatalf("%d lines", n)
	}
	for name, mark := range c.state {
		if len(mark) > 100<<10 {
			t.Errorf("the bookmark of %s has %d bytes", name, len(mark))
		}
	}
	emitted := c.emitted
	c.quiet()
	c.quiet()
	if n := c.emitted - emitted; n > 8 { // the account of four stores, twice
		t.Errorf("two idle runs sent %d records", n)
	}
	w.must(os.Remove(w.path("logs/f-00/f-00003.jsonl")))
	c.quiet()
	w.append("logs/f-00/f-00004.jsonl", ids("more"))
	w.write("logs/new.jsonl", ids("new"))
	emitted = c.emitted
	c.run()
	if n := len(c.lines()); n != 1502 || c.emitted-emitted > 12 {
		t.Errorf("%d lines, %d records were sent for two", n, c.emitted-emitted)
	}
}

// TestScope holds that a bookmark speaks only for the streams that were asked for.
func TestScope(t *testing.T) {
	t.Parallel()
	w := newTree(t)
	w.write("logs/a.jsonl", ids("a"))
	w.write("notes/n.md", "hello")
	c := newCollected(t, logs(w.dir))
	c.streams = []string{"files"}
	c.run()
	if len(c.lines()) != 0 || len(c.records["files"]) != 1 || len(c.records["notes"]) != 0 {
		t.Fatalf("records %v", c.records)
	}
	c.streams = []string{"files", "lines", "notes", "coverage_diagnostics"}
	c.run()
	c.wantLines("a")
	if c.records["notes"]["notes/n.md"] != `{"id":"notes/n.md","text":"hello"}` {
		t.Errorf("notes %v", c.records["notes"])
	}
	c.src.Exclude = func(_, rel string) bool { return strings.HasPrefix(rel, "notes/") }
	w.write("notes/m.md", "no")
	c.run()
	if len(c.records["notes"]) != 1 {
		t.Errorf("an excluded note was read: %v", c.records["notes"])
	}
	if got := c.coverage("notes"); got.Status != "excluded" || got.FilesExcluded != 2 {
		t.Errorf("account %+v", got)
	}
}

// TestNoRoot holds that a source without its folder fails with a clear error.
func TestNoRoot(t *testing.T) {
	t.Parallel()
	c := newCollected(t, logs(filepath.Join(t.TempDir(), "nothing")))
	if c.tryRun(); c.done.Error == nil || !strings.Contains(c.done.Error.Message, "not there") {
		t.Errorf("ended with %+v", c.done)
	}
}

// TestFolders holds that nothing outside of the folders that the owner named is looked at,
// by whatever way it is reached.
func TestFolders(t *testing.T) {
	t.Parallel()
	w := newTree(t)
	w.write("logs/office/a.jsonl", ids("a"))
	w.write("logs/office/deep/b.jsonl", ids("b"))
	w.write("logs/officer/c.jsonl", ids("c")) // the same letters, another folder
	w.write("logs/d.jsonl", ids("d"))
	w.write("notes/n.md", "private")
	w.write("strange/x", "nobody asks")
	w.must(os.Symlink(w.path("logs/officer"), w.path("logs/office/link")))
	w.must(os.Symlink(w.path("logs/office"), w.path("alias")))
	for name, folders := range map[string][]string{
		"itself":    {w.path("logs/office")},
		"by a link": {w.path("alias")},
		"dots":      {w.path("logs/officer/../office")},
		"and more":  {w.path("logs/office"), w.path("logs/office/deep"), w.path("nowhere")},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCollected(t, logs(w.dir))
			text, err := json.Marshal(folders)
			w.must(err)
			c.env = map[string]string{"PDPP_SOURCE_ROOTS": string(text)}
			c.run()
			c.wantLines("a", "b")
			if len(c.records["notes"]) != 0 || len(c.gaps) != 0 {
				t.Errorf("beside them: notes %v, gaps %v", c.records["notes"], c.gaps)
			}
			for id, rec := range c.records["coverage_diagnostics"] {
				if strings.Contains(rec, "strange") || strings.Contains(rec, "unaccounted") {
					t.Errorf("the account knows of what is outside: %s %s", id, rec)
				}
			}
		})
	}
	for name, env := range map[string]string{"elsewhere": `["` + filepath.ToSlash(t.TempDir()) + `"]`,
		"gone": `["/nowhere/at/all"]`, "unreadable": `[7`} {
		c := newCollected(t, logs(w.dir))
		c.env = map[string]string{"PDPP_SOURCE_ROOTS": env}
		if c.tryRun(); c.done.Status == protocol.DoneSucceeded || c.emitted != 0 {
			t.Errorf("%s: ended as %+v with %d records", name, c.done, c.emitted)
		}
	}
}
