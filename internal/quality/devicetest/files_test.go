package devicetest

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/quality/programs"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/providersim/files"
)

// TestSourcesOfFiles goes the owner's way for browsers, notes and mail: what lies in the usual places
// of a computer is collected there by a command that was made here, and on the server's own machine
// by a run; both find it by its words.
func TestSourcesOfFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := programs.Build(dir, "cmd/pdpp", "cmd/pdpp-local-collector", "cmd/pdpp-connectors"); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	st, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(home, "pdpp.db")), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	w := &world{t: t, dir: dir, home: home, store: st, kills: map[string]int{}}
	w.plant()
	w.start()
	t.Cleanup(func() { w.end("server") })
	for _, source := range []struct {
		name, stream, field string
		usual               map[string]string // places in the home folder, by what the maker calls them
		make                func(string, files.Config) (files.World, error)
	}{
		{"browser_history", "visits", "title",
			map[string]string{"chrome": ".config/google-chrome", "firefox": ".mozilla/firefox"}, browsers(t)},
		{"notes", "notes", "text", map[string]string{".": "Notes"},
			func(d string, c files.Config) (files.World, error) { return files.NewNotes(d, c) }},
		{"mail", "messages", "text", map[string]string{"maildir": "Maildir", "mbox": "Takeout/Mail"},
			func(d string, c files.Config) (files.World, error) { return files.NewMail(d, c) }},
	} {
		for i, computer := range []string{w.deviceDir, w.home} {
			world, err := source.make(t.TempDir(), files.Config{Seed: uint64(4 + i), Sessions: 4, Lines: 10})
			for from, to := range source.usual {
				to = filepath.Join(computer, filepath.FromSlash(to))
				err = errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o700), os.Symlink(filepath.Join(world.Root(), from), to))
			}
			if err != nil {
				t.Fatal(err)
			}
			if computer == w.home {
				w.owner("connect", source.name, "--no-wait")
				w.owner("run", "cin_"+source.name+"_2") // the first connection is the device's
			} else {
				var made struct {
					Command string `json:"command"`
				}
				if err := json.Unmarshal([]byte(w.owner("devices", "add", source.name, "--json")), &made); err != nil {
					t.Fatal(err)
				}
				if out, err := w.run(strings.Fields(made.Command)[1:]...); err != nil {
					t.Fatalf("%q: %v\n%s", made.Command, err, out)
				}
			}
			w.finds(source.stream, source.field, world)
		}
	}
}

func browsers(t *testing.T) func(string, files.Config) (files.World, error) {
	return func(dir string, c files.Config) (files.World, error) {
		b, err := files.NewBrowsers(dir, c)
		if err == nil {
			t.Cleanup(func() { _ = b.Close() })
		}
		return b, err
	}
}

// finds looks for some of what a world holds, by words that it has.
func (w *world) finds(stream, field string, in files.World) {
	w.t.Helper()
	found := 0
	for _, items := range in.Now() {
		i := items[0]
		text, _ := i.Fields[field].(string)
		words := strings.Fields(strings.Trim(strings.ReplaceAll(text, "\n", " "), "# "))
		place := i.Fields["profile"]
		// which are not in a usual place here
		if i.Stream != stream || len(words) < 4 || place == "safari" || place == "Profile 1" {
			continue
		}
		words = words[:4]
		key := i.Key
		if key == "" {
			key, _ = i.Fields["path"].(string)
		}
		if answer := w.owner("search", strings.Join(words, " "), "--json", "--limit", "100"); !strings.Contains(answer, key) {
			w.t.Errorf("%s: %q is not found", key, words)
		}
		if found++; found == 2 {
			return
		}
	}
	w.t.Errorf("nothing of %s was looked for", stream)
}
