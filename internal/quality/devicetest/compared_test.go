package devicetest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/quality/programs"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
)

// TestDeviceIsNotCompared goes back to an earlier bookmark of a device with the shipped programs. What the device then
// reads is not compared with the stored records, so that a note which is gone stays, and the command announces it.
func TestDeviceIsNotCompared(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	err := programs.Build(dir, "cmd/pdpp", "cmd/pdpp-local-collector", "cmd/pdpp-connectors")
	if err != nil {
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
	note := func(name string) string { return filepath.Join(w.deviceDir, "Notes", name+".md") }
	write := func(names ...string) {
		t.Helper()
		for _, name := range names {
			if err := os.MkdirAll(filepath.Dir(note(name)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(note(name), []byte("The "+name+" is ripe\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	write("pear", "quince", "plum")
	w.start()
	t.Cleanup(func() { w.end("server") })
	var made struct {
		Command string `json:"command"`
	}
	if err := json.Unmarshal([]byte(w.owner("devices", "add", "notes", "--json")), &made); err != nil {
		t.Fatal(err)
	}
	if out, err := w.run(append(strings.Fields(made.Command)[1:], "--write-only")...); err != nil {
		t.Fatalf("%q: %v\n%s", made.Command, err, out)
	}
	w.profileWith("PDPP_NOTES_DELETE=on")
	pass := func() {
		t.Helper()
		if out, err := w.run("run", "--source-instance-id", w.source); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	pass()
	write("medlar")
	pass()
	if n := w.stored("notes", "notes"); n != 4 {
		t.Fatalf("%d notes are stored, want 4", n)
	}
	message := w.owner("state", "rewind", "notes", "1", "--connection", w.connection(), "--yes")
	if !strings.Contains(message, "not compared") || strings.Contains(message, "pdpp run ") {
		t.Errorf("the command prints:\n%s", message)
	}
	if err := os.Remove(note("medlar")); err != nil {
		t.Fatal(err)
	}
	pass()
	if n := w.stored("notes", "notes"); n != 4 {
		t.Errorf("%d notes are stored after the rewind, want 4: a device was compared", n)
	}
}
