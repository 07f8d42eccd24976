package runs

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
)

// Following ends when the run is withdrawn, when no worker is alive, and when the process of the run is lost.
func TestFollowGivesUp(t *testing.T) {
	const nursery = "cin_nursery_1"
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	home := t.TempDir()
	s, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(home, "pdpp.db")), sqlite.Options{})
	must(err)
	t.Cleanup(func() { _ = s.Close() })
	clock := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	must(s.CreateConnection(t.Context(), store.Connection{ID: nursery, ConnectorID: "nursery", DisplayName: "Nursery",
		Status: store.ConnectionActive, SourceKind: store.SourceAccount, CreatedAt: clock}))
	inv := &command.Invocation{JSON: true, HomeFlag: home, ErrOut: io.Discard, Env: command.Env{
		Lookup:   func(string) (string, bool) { return "", false },
		LookPath: func(string) (string, error) { return "", os.ErrNotExist },
		Now:      func() time.Time { return clock },
	}}
	o, err := inv.LocalOwner(s)
	must(err)
	request := func() {
		_, err := s.RequestRun(t.Context(), store.RunRequest{ConnectionID: nursery, Trigger: store.TriggerManual,
			RequestedAt: clock})
		must(err)
	}
	request()
	f := newRunFollower(inv, o, AwaitedRun{ConnectionID: nursery})
	look := func(want string) {
		t.Helper()
		over, err := f.pollRun(t.Context())
		switch {
		case over || want == "" && err != nil:
			t.Errorf("over: %t, %v", over, err)
		case want != "" && (err == nil || !strings.HasPrefix(failure.Describe(err).Code+": "+err.Error(), want)):
			t.Errorf("%v, want %s", err, want)
		}
	}
	alive := func() {
		must(s.PutWorker(t.Context(), store.Worker{ID: "w", Host: "h", Capabilities: []string{"network"}, StartedAt: clock,
			SeenAt: clock}))
	}
	alive()
	look("")
	must(s.WithdrawRun(t.Context(), nursery))
	look("cancelled: the run was taken back before it began")
	request()
	clock = clock.Add(time.Hour)
	look("no_worker: ")
	alive()
	_, err = s.StartRun(t.Context(), store.RunStart{RunID: "run_1", ConnectionID: nursery, ConnectorID: "nursery",
		Trigger: store.TriggerManual,
		Holder:  "test", TTL: time.Minute, Streams: []store.StreamSpec{{Name: "trees"}}}, clock)
	must(err) // the request goes with the start
	look("")
	if f.run.ID != "run_1" {
		t.Fatalf("looks on at %q", f.run.ID)
	}
	look("")
	clock = clock.Add(workerLossTimeout)
	look("")
	clock = clock.Add(workerCheckInterval)
	look("run_lost: the worker that made run run_1 is gone")
	alive()
	clock = clock.Add(workerCheckInterval)
	look("")
}
