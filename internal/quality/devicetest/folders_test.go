package devicetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/quality/programs"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
)

// TestOwnersLimitsHoldOnTheDevice goes the owner's way with the shipped programs: a command
// is made here and pasted there, and nothing arrives but what the owner let it collect.
func TestOwnersLimitsHoldOnTheDevice(t *testing.T) {
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
	for project, texts := range map[string][2]string{"-home-mara-work": {"pear", "quince"},
		"-home-mara-private": {"plum", "medlar"}} {
		folder := filepath.Join(w.deviceDir, ".claude", "projects", project)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		var lines []string
		for i, text := range texts { // the first is older than the owner wants
			lines = append(lines, fmt.Sprintf(`{"type":"user","uuid":"%s-%d","sessionId":"%s",`+
				`"timestamp":"202%d-06-01T10:00:00.000Z","message":{"role":"user","content":"The %s is ripe"}}`,
				project, i, project, 5+i, text))
		}
		if err := os.WriteFile(filepath.Join(folder, "s"+project+".jsonl"), []byte(strings.Join(lines, "\n")+"\n"),
			0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.start()
	t.Cleanup(func() { w.end("server") })

	var made struct {
		Command string `json:"command"`
	}
	if err := json.Unmarshal([]byte(w.owner("devices", "add", "claude_code", "--folder",
		"~/.claude/projects/-home-mara-work", "--since", "2026-01-01", "--json")), &made); err != nil {
		t.Fatal(err)
	}
	pasted := strings.Fields(made.Command)
	if out, err := w.run(pasted[1:]...); err != nil {
		t.Fatalf("%q: %v\n%s", made.Command, err, out)
	}
	runs, err := st.ListRuns(t.Context(), store.RunQuery{ConnectionID: w.connection()})
	if err != nil || len(runs) != 1 || runs[0].Status != store.RunSucceeded ||
		!strings.Contains(string(runs[0].Facts), `"stream":"messages"`) {
		t.Errorf("the pass ended as %+v, %v", runs, err) // with what its connector knows of its stores
	}
	for word, want := range map[string]int{"quince": 1, "pear": 0, "plum": 0, "medlar": 0} {
		if got := strings.Count(w.owner("search", word, "--json"), `"stream":"messages"`); got != want {
			t.Errorf("%d messages of the %s were collected, want %d", got, word, want)
		}
	}

	// A stream that the owner deletes is not read on the device any more.
	w.owner("delete", w.connection(), "--stream", "messages", "--yes")
	work := filepath.Join(w.deviceDir, ".claude", "projects", "-home-mara-work", "s-home-mara-work.jsonl")
	f, err := os.OpenFile(work, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(`{"type":"user","uuid":"later","sessionId":"-home-mara-work",` +
		`"timestamp":"2026-07-01T10:00:00.000Z","message":{"role":"user","content":"The sloe is ripe"}}` + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	sources, err := st.DeviceSources(t.Context(), "")
	if err != nil || len(sources) != 1 {
		t.Fatalf("%+v, %v", sources, err)
	}
	if out, err := w.run("run", "--source-instance-id", sources[0].ID); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	deletions, err := st.Deletions(t.Context(), w.connection())
	if err != nil || len(deletions) != 1 || deletions[0].TurnedAway != 0 { // nothing was sent
		t.Errorf("the deletion is %+v, %v", deletions, err)
	}
}

// owner runs a command of the owner on the server's machine.
func (w *world) owner(args ...string) string {
	w.t.Helper()
	cmd := exec.Command(filepath.Join(w.dir, "pdpp"), args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "PDPP_HOME=" + w.home, "PDPP_DATABASE_URL=" +
		w.database}
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("pdpp %s: %v\n%s%s", strings.Join(args, " "), err, out, &complaint)
	}
	return string(out)
}
