//pdpp:tier programs

package browsertest

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/providersim/signin"
)

// Two people have an account each at one site. Their connections run at once, each in a browser
// of its own with a profile of its own, and neither knows of the other's sign-in; the next runs
// need no person. No browser listens on a port, and none is left.
func TestTwoAccountsSideBySide(t *testing.T) {
	for _, claim := range []string{"RT-02.1", "RT-02.3", "RT-04.1", "RT-04.2"} {
		t.Attr("spec", claim)
	}
	people := map[string]signin.Account{
		"cin_rowan": {ID: "user-rowan-01", Name: "Rowan Ashgrove", Email: "rowan@example.org", Password: "fern-gully-41"},
		"cin_ines":  {ID: "user-ines-02", Name: "Ines Marlow", Email: "ines@example.org", Password: "moss-hollow-7"},
	}
	s, err := signin.StartDiary(signin.DiaryConfig{Entries: 12, PerPage: 15,
		Config: signin.Config{Accounts: []signin.Account{people["cin_rowan"], people["cin_ines"]}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	b := connectortest.NewHarness(t, connectortest.Target{
		Connector: connectortest.BuiltInConnector(t, "example_browser"),
		Start: func(*testing.T) *connectortest.Sim {
			return &connectortest.Sim{Provider: s.Diary, Gate: s.Diary.Gate(),
				Env: map[string]string{"PDPP_EXAMPLE_BROWSER_BASE_URL": s.BaseURL}}
		},
	})
	b.UseBrowser(t, s.BaseURL)
	now := time.Now()
	for id := range people {
		if err := b.Store.CreateConnection(t.Context(),
			store.Connection{ID: id, ConnectorID: "example_browser", DisplayName: id, Status: store.ConnectionActive,
				SourceKind: store.SourceAccount, CreatedAt: now, UpdatedAt: now}); err != nil {
			t.Fatal(err)
		}
	}
	together(t, b, func(id string) launch.RunRequest {
		owner := &connectortest.SimulatedOwner{Site: s.Diary.Site(), Account: people[id]}
		return owner.AnswerRun(t, launch.RunRequest{ConnectionID: id, Trigger: store.TriggerManual})
	}, people)
	macs := map[string]string{}
	for id := range people {
		row, err := b.Store.BrowserProfile(t.Context(), id, "example_browser__"+id)
		if err != nil {
			t.Fatal(err)
		}
		if other, taken := macs[row.AccountMAC]; taken || row.AccountMAC == "" {
			t.Errorf("%s and %s are signed in to the account %q", id, other, row.AccountMAC)
		}
		macs[row.AccountMAC] = id
		if info, err := os.Stat(filepath.Join(b.Browsers.Root, "example_browser__"+id)); err != nil ||
			info.Mode().Perm() != 0o700 {
			t.Errorf("the folder of %s: %v, %v", id, info, err)
		}
	}
	// The connector names no profile. Each name begins with the connector's, and a connection has one profile.
	folders, err := os.ReadDir(b.Browsers.Root)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, folder := range folders {
		names = append(names, folder.Name())
	}
	if want := []string{"example_browser__cin_ines", "example_browser__cin_rowan"}; !slices.Equal(names, want) {
		t.Errorf("profiles %q, want %q", names, want)
	}
	signedIn := s.Diary.Site().State().Count.SignIns
	together(t, b, func(id string) launch.RunRequest {
		return launch.RunRequest{ConnectionID: id, Trigger: store.TriggerScheduled}
	}, people)
	if again := s.Diary.Site().State().Count.SignIns; again != signedIn {
		t.Errorf("somebody signed in again: %d, then %d", signedIn, again)
	}
	// A new name moves nothing; the end of one leaves the other as it is.
	if err := filepath.WalkDir(b.Browsers.Root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && (strings.Contains(d.Name(), "daemon") || d.Name() == "live") {
			t.Errorf("%s is left", path)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
	renamed, err := b.Store.Connection(t.Context(), "cin_ines")
	if err != nil {
		t.Fatal(err)
	}
	renamed.DisplayName = "Diary of Ines"
	if err := errors.Join(b.Store.UpdateConnection(t.Context(), renamed),
		b.Store.DropBrowserProfiles(t.Context(), "cin_rowan")); err != nil {
		t.Fatal(err)
	}
	if r := run(t, b, launch.RunRequest{ConnectionID: "cin_ines",
		Trigger: store.TriggerScheduled}); r.Status != runner.Succeeded {
		t.Errorf("the other ended as %s: %v", r.Status, r.Failure)
	}
	if r := run(t, b, launch.RunRequest{ConnectionID: "cin_rowan", Trigger: store.TriggerScheduled}); r.DoneError == nil ||
		r.DoneError.Code != "example_browser_session_required" {
		t.Errorf("without its profile it ended as %s: %+v", r.Status, r.DoneError)
	}
}

func run(t *testing.T, b *connectortest.Harness, req launch.RunRequest) launch.RunResult {
	t.Helper()
	l := b.Launcher()
	l.Secrets = launch.StoredSecrets(b.Store, b.Browsers.Key)
	r, err := l.Run(t.Context(), req)
	if err != nil {
		t.Error(err)
	}
	return r
}

// together runs the connections at once, and looks at their browsers while they are up.
func together(t *testing.T, b *connectortest.Harness, ask func(id string) launch.RunRequest,
	people map[string]signin.Account) {
	t.Helper()
	var all sync.WaitGroup
	for id := range people {
		all.Go(func() {
			if r := run(t, b, ask(id)); r.Status != runner.Succeeded {
				t.Errorf("%s ended as %s: %v\n%s", id, r.Status, r.Failure, r.StderrTail)
			}
		})
	}
	over := make(chan struct{})
	go func() { all.Wait(); close(over) }()
	most, seen := 0, map[string]bool{}
	for looking := true; looking; {
		select {
		case <-over:
			looking = false
		case <-time.After(20 * time.Millisecond):
		}
		up := 0
		for id := range people {
			room, err := os.Readlink(filepath.Join(b.Browsers.Root, "example_browser__"+id, "live"))
			if err != nil {
				continue
			}
			for _, pid := range processesOf(room) {
				seen[room] = true
				if ports := listening(pid); len(ports) > 0 {
					t.Errorf("process %s of %s listens on %v", pid, id, ports)
				}
			}
			if seen[room] {
				up++
			}
		}
		most = max(most, up)
	}
	if most != len(people) || len(seen) != len(people) {
		t.Errorf("%d browsers were up at once, with %d profiles", most, len(seen))
	}
	for room := range seen {
		if left := processesOf(room); len(left) > 0 {
			t.Errorf("processes %v are left", left)
		}
		if _, err := os.Stat(room); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", room, err)
		}
	}
}

// processesOf are the browser's processes of a room.
func processesOf(room string) (pids []string) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		if line, err := os.ReadFile(path); err == nil && strings.Contains(string(line), "--user-data-dir="+room) {
			pids = append(pids, filepath.Base(filepath.Dir(path)))
		}
	}
	return pids
}

// listening are the TCP ports on which a process accepts connections.
func listening(pid string) (ports []string) {
	sockets := map[string]bool{}
	files, _ := filepath.Glob("/proc/" + pid + "/fd/*")
	for _, f := range files {
		if to, err := os.Readlink(f); err == nil && strings.HasPrefix(to, "socket:[") {
			sockets[strings.Trim(to, "socket:[]")] = true
		}
	}
	for _, table := range []string{"tcp", "tcp6"} {
		text, _ := os.ReadFile("/proc/" + pid + "/net/" + table)
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			if len(f) > 9 && f[3] == "0A" && sockets[f[9]] {
				_, port, _ := strings.Cut(f[1], ":")
				number, _ := hex.DecodeString(port)
				ports = append(ports, fmt.Sprintf("%x", number))
			}
		}
	}
	return ports
}
