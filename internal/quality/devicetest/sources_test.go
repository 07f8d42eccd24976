package devicetest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/quality/programs"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/providersim/files"
)

// TestSourcesOfMessages follows the owner's steps for sources that a program keeps in a database.
// The server creates a command, the device runs it, and the messages are found by full text.
func TestSourcesOfMessages(t *testing.T) {
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
		name, folder, text string
		make               func(string, files.Config) (files.World, error)
	}{
		{"imessage", "Library/Messages", "text", files.Messages},
		{"whatsapp", "Library/Group Containers/group.net.whatsapp.WhatsApp.shared", "content", files.WhatsApp},
	} {
		folder := filepath.Join(w.deviceDir, filepath.FromSlash(source.folder))
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		tree, err := source.make(folder, files.Config{Seed: 4, Sessions: 2, Lines: 10})
		if err != nil {
			t.Fatal(err)
		}
		var made struct {
			Command string `json:"command"`
		}
		if err := json.Unmarshal([]byte(w.owner("devices", "add", source.name, "--json")), &made); err != nil {
			t.Fatal(err)
		}
		if out, err := w.run(strings.Fields(made.Command)[1:]...); err != nil {
			t.Fatalf("%q: %v\n%s", made.Command, err, out)
		}
		found := 0
		for _, items := range tree.Now() {
			message := fmt.Sprint(items[0].Fields[source.text])
			if items[0].Stream != "messages" || len(strings.Fields(message)) < 4 {
				continue
			}
			words := strings.Join(strings.Fields(message)[:4], " ")
			if answer := w.owner("search", words, "--json", "--limit", "100"); strings.Contains(answer, items[0].Key) {
				found++
			} else {
				t.Errorf("%s: %q is not found", source.name, words)
			}
			if found == 2 {
				break
			}
		}
		if found == 0 {
			t.Errorf("%s: nothing was looked for", source.name)
		}
	}
}
