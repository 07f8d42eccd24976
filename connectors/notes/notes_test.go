package notes_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/inprocess"
	"github.com/pdpp-go/pdpp/connectors/notes"
	"github.com/pdpp-go/pdpp/providersim/files"
)

// vault is a folder with notes, and what runs over it have brought.
type vault struct {
	t    testing.TB
	dir  string
	env  map[string]string
	kept *inprocess.MemoryRunner
}

func newVault(t testing.TB, content map[string]string) *vault {
	v := &vault{t: t, dir: t.TempDir()}
	v.env = map[string]string{"NOTES_DIR": v.dir}
	v.kept = inprocess.NewMemoryRunner(t, notes.Connector(), v.env)
	for rel, text := range content {
		v.put(rel, text)
	}
	return v
}

func (v *vault) put(rel, text string) {
	v.t.Helper()
	to := filepath.Join(v.dir, rel)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		v.t.Fatal(err)
	}
	if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
		v.t.Fatal(err)
	}
}

func (v *vault) rename(from, to string) {
	v.t.Helper()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(v.dir, to)), 0o700); err != nil {
		v.t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(v.dir, from), filepath.Join(v.dir, to)); err != nil {
		v.t.Fatal(err)
	}
}

func (v *vault) remove(rel string) {
	v.t.Helper()
	if err := os.Remove(filepath.Join(v.dir, rel)); err != nil {
		v.t.Fatal(err)
	}
}

func (v *vault) run() { v.t.Helper(); v.kept.Run() }

// paths returns the paths in the records, by key.
func (v *vault) paths() map[string]string {
	v.t.Helper()
	all := map[string]string{}
	for key, data := range v.kept.Records["notes"] {
		var n struct{ Path string }
		if err := json.Unmarshal([]byte(data), &n); err != nil {
			v.t.Fatal(err)
		}
		all[key] = n.Path
	}
	return all
}

func (v *vault) hold(want map[string]string) {
	v.t.Helper()
	if got := v.paths(); fmt.Sprint(got) != fmt.Sprint(want) {
		v.t.Errorf("notes %v\nwant  %v", got, want)
	}
}

// TestRenamed shows that a renamed or moved note stays the same record, with or without its folder. A copy is another
// record, and so is a new note at the old path.
func TestRenamed(t *testing.T) {
	t.Parallel()
	v := newVault(t, map[string]string{"a.md": "# A\n", "in/b.md": "same\n", "in/c.md": "same\n",
		"d.md": "---\nid: dee\n---\nD\n"})
	v.run()
	v.hold(map[string]string{"notes/a.md": "a.md", "notes/in/b.md": "in/b.md", "notes/in/c.md": "in/c.md",
		"id/dee": "d.md"})
	v.rename("a.md", "else/renamed.md")
	v.rename("in", "out")
	v.put("copy.md", "---\nid: dee\n---\nD\n")
	v.run()
	v.hold(map[string]string{"notes/a.md": "else/renamed.md", "notes/in/b.md": "out/b.md", "notes/in/c.md": "out/c.md",
		"id/dee": "d.md", "notes/copy.md": "copy.md"})
	v.put("a.md", "# Another\n")
	v.remove("d.md")
	v.put("later.md", "---\nid: dee\n---\nD, changed\n") // renamed and changed at once: recognized by its id
	v.run()
	v.hold(map[string]string{"notes/a.md": "else/renamed.md", "notes/a.md#2": "a.md", "notes/in/b.md": "out/b.md",
		"notes/in/c.md": "out/c.md", "id/dee": "later.md", "notes/copy.md": "copy.md"})
	before := v.kept.Writes
	v.run()
	if v.kept.Writes != before {
		t.Errorf("a run over nothing new wrote %d records", v.kept.Writes-before)
	}
	v.put("else/renamed.md", "---\nid: new\n---\n# A, with an id\n") // a known note keeps its key
	v.run()
	if got := v.paths()["notes/a.md"]; got != "else/renamed.md" || len(v.paths()) != 6 {
		t.Errorf("notes %v", v.paths())
	}
}

// TestGone holds that a note which is gone stays, unless the owner wants otherwise and everything
// was looked at.
func TestGone(t *testing.T) {
	t.Parallel()
	content := map[string]string{}
	for i := range 30 {
		content[fmt.Sprintf("n%02d.md", i)] = fmt.Sprintf("note %d\n", i)
	}
	v := newVault(t, content)
	v.run()
	v.remove("n00.md")
	v.run()
	if len(v.paths()) != 30 {
		t.Fatalf("%d notes after one is gone", len(v.paths()))
	}
	v.env["PDPP_NOTES_DELETE"] = "on"
	v.env["NOTES_DIR_2"] = filepath.Join(v.dir, "not there")
	v.run()
	if len(v.paths()) != 30 {
		t.Errorf("%d notes although a folder is not there", len(v.paths()))
	}
	delete(v.env, "NOTES_DIR_2")
	v.run()
	if _, stays := v.paths()["notes/n00.md"]; stays || len(v.paths()) != 29 {
		t.Errorf("%d notes when the owner wants them deleted", len(v.paths()))
	}
	for i := 1; i < 25; i++ {
		v.remove(fmt.Sprintf("n%02d.md", i))
	}
	v.run()
	if len(v.paths()) != 29 {
		t.Errorf("%d notes after most were gone at once", len(v.paths()))
	}
	v.put("n01.md", "note 1\n")
	v.run()
	if got := v.paths()["notes/n01.md"]; got != "n01.md" {
		t.Errorf("a note that came back is at %q", got)
	}
}

// TestWhatANoteSays holds title, tags, links, aliases and times.
func TestWhatANoteSays(t *testing.T) {
	t.Parallel()
	v := newVault(t, map[string]string{
		"full.md": "---\ntitle: The pump\ntags: [repair, \"#water\"]\naliases: [Pump, P1]\ncreated: 2026-02-03\nrating: 4\n" +
			"---\n# Not this\nSee [[Boat#Hull|the boat]] and [shop](https://shop.example/a) and [here](notes/x.md). #urgent " +
			"`#code` x#no #1\n```\n#fenced [[Nothing]]\n```\n",
		"head.md": "intro\n\n# A heading #\n",
		"bare.md": "just words",
		"x.txt":   "# no note",
	})
	at := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	if err := os.Chtimes(filepath.Join(v.dir, "full.md"), at, at); err != nil {
		t.Fatal(err)
	}
	v.run()
	for _, want := range []string{
		`"title":"The pump"`, `"tags":["repair","water","urgent"]`, `"links":["Boat","https://shop.example/a","notes/x.md"]`,
		`"aliases":["Pump","P1"]`,
		`"created_at":"2026-02-03T00:00:00Z"`, `"modified_at":"2026-05-06T07:08:09Z"`, `"rating":4`, `"text":"# Not this\n`,
	} {
		if got := v.kept.Records["notes"]["notes/full.md"]; !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
	for key, title := range map[string]string{"notes/head.md": "A heading", "notes/bare.md": "bare"} {
		if got := v.kept.Records["notes"][key]; !strings.Contains(got, `"title":"`+title+`"`) {
			t.Errorf("%s: %s", key, got)
		}
	}
	if len(v.paths()) != 3 {
		t.Errorf("notes %v", v.paths())
	}
}

// TestEveryNoteIsOneRecord lets a hand work in a vault between runs: after each, every note that is
// there is claimed by exactly one record.
func TestEveryNoteIsOneRecord(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		v := &vault{t: t, dir: t.TempDir()}
		v.env = map[string]string{"NOTES_DIR": v.dir}
		v.kept = inprocess.NewMemoryRunner(t, notes.Connector(), v.env)
		world, err := files.NewNotes(v.dir, files.Config{Seed: seed, Sessions: 8, Lines: 5})
		if err != nil {
			t.Fatal(err)
		}
		var steps []string
		for range 12 {
			for range 6 {
				step, err := world.Step()
				if err != nil {
					t.Fatal(err)
				}
				steps = append(steps, step)
			}
			v.run()
			var claimed []string
			for _, path := range v.paths() {
				claimed = append(claimed, path)
			}
			for path := range world.Now() {
				if n := len(slices.DeleteFunc(slices.Clone(claimed), func(p string) bool { return p != path })); n != 1 {
					t.Fatalf("seed %d: %d records for %s after %v", seed, n, path, steps)
				}
			}
		}
	}
}
