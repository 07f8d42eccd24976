package launch

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/collect/browser"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// browsing returns a launcher with the browser of this machine, for a connector that needs one.
func (b *bed) browsing(t *testing.T, role string) *Launcher {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("no Chromium is installed; run make test, which installs it")
	}
	l := b.launcher(t, role)
	m := sample(t)
	m.RuntimeRequirements.Bindings[manifest.BindingBrowser] = manifest.BindingUse{Required: true}
	m.Browser = &manifest.Browser{Hosts: []string{"sample.example"}}
	path, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	l.Connectors = catalog.Fixed(catalog.Connector{Name: "sample", Manifest: m, Path: path})
	l.Bindings["browser"] = jsontext.Value("{}")
	user, err := browser.UserFor("")
	if err != nil {
		t.Fatal(err)
	}
	if b.browsers == nil {
		b.browsers = &browser.Profiles{Root: filepath.Join(t.TempDir(), "profiles"), Keeper: b.store,
			Key: credential.NewKey(), Program: program, User: user, Memory: []string{"/dev/shm"}}
	}
	l.Browsers = b.browsers
	return l
}

// title returns the title of a record.
func (b *bed) title(t *testing.T, key string) string {
	t.Helper()
	r, err := b.store.Record(t.Context(), connection, "notes", key)
	if err != nil {
		t.Fatal(err)
	}
	var data struct {
		Title string `json:"title"`
	}
	if err := unmarshal(r.Data, &data); err != nil {
		t.Fatal(err)
	}
	return data.Title
}

// A real browser with its own sandbox runs under a confined connector, as an unprivileged user where the worker is
// root. The second run finds what the first stored.
func TestBrowserRun(t *testing.T) {
	b := newBed(t)
	open, err := os.MkdirTemp("", "pdpp-open-to-all-")
	if err == nil {
		err = errors.Join(os.Chmod(open, 0o755), os.WriteFile(filepath.Join(open, "file"), nil, 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(open) })
	b.env["SAMPLE_REGION"] = filepath.Join(open, "file")
	l := b.browsing(t, "browses")
	seen := make(chan string, 1)
	for i, want := range []string{"/", "+/+"} {
		result, err := l.Run(t.Context(), RunRequest{ConnectionID: connection, Trigger: store.TriggerManual,
			Surface: func(_ string, conn io.ReadWriteCloser) {
				go func() {
					_, _ = io.WriteString(conn, "looking on")
					content, _ := io.ReadAll(conn)
					seen <- string(content)
				}()
			}})
		if err != nil {
			t.Fatal(err)
		}
		mustSucceed(t, result)
		if page := b.title(t, "page"); !strings.Contains(page, "in a sandbox") {
			t.Errorf("the page is %q", page)
		}
		if got := b.title(t, "account"); got != want {
			t.Errorf("run %d knows the account %q, want %q", i+1, got, want)
		}
		if shown, message := b.title(t, "shown"), <-seen; shown != "looking on" || message != "seen" {
			t.Errorf("on the surface: %q and %q", shown, message)
		}
		if uid := b.title(t, "uid"); uid == "0" {
			t.Error("the connector is root")
		}
		if b.title(t, "spied") == "true" {
			t.Error("the connector reads what is not its own")
		}
		b.nothingLive(t)
	}
	row, err := b.store.BrowserProfile(t.Context(), connection, "sample__"+connection)
	if err != nil || row.Generation != 2 || row.AccountMAC != "++" {
		t.Errorf("kept is generation %d, %q, %v", row.Generation, row.AccountMAC, err)
	}
}

// nothingLive sees that neither files nor processes of the last run are left.
func (b *bed) nothingLive(t *testing.T) {
	t.Helper()
	home := b.title(t, "home")
	if _, err := os.Stat(home); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", home, err)
	}
	processes, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(processes) == 0 {
		t.Fatalf("cannot see processes: %v", err)
	}
	for _, path := range processes {
		if line, _ := os.ReadFile(path); strings.Contains(string(line), filepath.Dir(home)) {
			t.Errorf("left is %q", line)
		}
	}
}

// A connector that is ended leaves no browser, and what it had is kept.
func TestBrowserOfAnEndedConnector(t *testing.T) {
	b := newBed(t)
	l := b.browsing(t, "hangs with a browser")
	l.LeaseTTL, l.Browsers.Patience = 3*time.Second, 100*time.Millisecond // only the launcher ends it
	runID, outcome := background(t, l, RunRequest{})
	if err := b.store.RequestCancel(t.Context(), runID, l.now()); err != nil {
		t.Fatal(err)
	}
	if r, err := outcome(); err != nil || r.Failure == nil {
		t.Fatalf("it ended as %+v, %v", r.Outcome, err)
	}
	b.nothingLive(t)
	if row, err := b.store.BrowserProfile(t.Context(), connection, "sample__"+connection); err != nil ||
		row.AccountMAC != "late" {
		t.Errorf("kept is %q, %v", row.AccountMAC, err)
	}
}

// A profile that another key sealed ends the run before anything is started.
func TestBrowserProfileOfAnotherKey(t *testing.T) {
	b := newBed(t)
	l := b.browsing(t, "browses")
	lease, err := b.store.StartRun(t.Context(), store.RunStart{RunID: "r", ConnectionID: connection, ConnectorID: "sample",
		Trigger: store.TriggerManual, Holder: "x", TTL: 1}, l.now())
	if err != nil {
		t.Fatal(err)
	}
	other := credential.NewKey()
	if err := b.store.SaveBrowserProfile(t.Context(), lease,
		store.BrowserProfile{ConnectionID: connection, Name: "sample__" + connection, Sealed: other.Seal("x", nil)},
		l.now()); err != nil {
		t.Fatal(err)
	}
	r, err := l.Run(t.Context(), RunRequest{ConnectionID: connection, Trigger: store.TriggerManual})
	if err != nil || r.Failure == nil || r.Failure.Reason != ReasonCredential ||
		!errors.Is(r.Failure.Err, credential.ErrWrongKey) {
		t.Errorf("it ended as %+v, %v", r.Failure, err)
	}
}
