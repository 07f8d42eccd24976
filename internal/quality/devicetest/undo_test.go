package devicetest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/quality/programs"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
)

// TestRevokeTakesBack goes the owner's way with the shipped programs: a device is revoked
// with what it sent since a moment, and the computer that is connected in its place brings
// all of it again.
func TestRevokeTakesBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := programs.Build(dir, "cmd/pdpp", "cmd/pdpp-local-collector"); err != nil {
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
	w.road = newRoad(t, 1, w.address())
	w.enrol()
	w.grow(60)
	w.pass()
	since := time.Now()
	w.grow(120)
	w.pass()
	w.judge()

	devices, err := st.ListDevices(t.Context())
	if err != nil || len(devices) != 1 {
		t.Fatalf("%+v, %v", devices, err)
	}
	var reported struct {
		Undone struct {
			Restored  int      `json:"records_restored"`
			Deleted   int      `json:"records_deleted"`
			Bookmarks int      `json:"bookmarks_rewound"`
			Runs      []string `json:"run_ids"`
		} `json:"undone"`
	}
	message := w.owner("devices", "revoke", devices[0].ID, "--undo-since", since.UTC().Format(time.RFC3339Nano), "--json")
	if err := json.Unmarshal([]byte(message), &reported); err != nil {
		t.Fatalf("%v: %s", err, message)
	}
	// two of the 120 cannot be read
	if u := reported.Undone; u.Deleted != 118 || u.Restored != 0 || u.Bookmarks != 1 || len(u.Runs) != 1 {
		t.Errorf("taken back: %s", message)
	}
	id := w.connection()
	live, err := st.ListRecords(t.Context(),
		store.RecordQuery{AccessFilter: store.AccessFilter{ConnectionID: id, Stream: "notes"}, Limit: 1000})
	if err != nil || len(live) != 59 {
		t.Errorf("%d records are left, %v", len(live), err)
	}

	var made struct {
		Command string `json:"command"`
	}
	if err := json.Unmarshal([]byte(w.owner("devices", "add", "diary", "--binding", "attic", "--json")),
		&made); err != nil {
		t.Fatal(err)
	}
	line := strings.Replace(made.Command, w.address(), w.road.URL, 1)
	out, err := w.run(append(strings.Fields(line)[1:], "--write-only")...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	w.profile()
	if out, err := w.run("run", "--source-instance-id", w.source); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	live, err = st.ListRecords(t.Context(),
		store.RecordQuery{AccessFilter: store.AccessFilter{ConnectionID: w.connection(), Stream: "notes"}, Limit: 1000})
	if err != nil || len(live) != 177 {
		t.Errorf("%d records are there again, %v", len(live), err)
	}
	if runs := w.owner("devices", "diagnostics"); !strings.Contains(runs, w.source) {
		t.Errorf("diagnostics say:\n%s", runs)
	}
}

// profile finds the one profile, of the source that is collected now, and names the diary in it.
func (w *world) profile() {
	w.t.Helper()
	w.profileWith("DIARY_FILE=" + w.diary())
}

// profileWith adds a line to the one profile.
func (w *world) profileWith(line string) {
	t := w.t
	t.Helper()
	profiles, err := filepath.Glob(filepath.Join(w.deviceDir, ".config", "pdpp", "collectors", "*.env"))
	if err != nil || len(profiles) != 1 {
		t.Fatalf("%v, %v", profiles, err)
	}
	w.source = strings.TrimSuffix(filepath.Base(profiles[0]), ".env")
	body, err := os.ReadFile(profiles[0])
	if err == nil {
		err = os.WriteFile(profiles[0], append(body, line+"\n"...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
