package collector

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/device/outbox"
	"github.com/pdpp-go/pdpp/internal/quality/goldentest"
	"github.com/pdpp-go/pdpp/manifest"
)

var bindings = map[string]jsontext.Value{"filesystem": jsontext.Value("{}")}

// diary is the connector that this program plays. Its own folder is the diary's, in which it
// notes its runs.
func diary(profile Profile) catalog.Finder {
	body, err := os.ReadFile("testdata/manifest.json")
	if err != nil {
		panic(err)
	}
	m, err := manifest.Parse(body)
	if err != nil {
		panic(err)
	}
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return catalog.Fixed(catalog.Connector{Name: "diary", Manifest: m, Path: self,
		Dir: filepath.Dir(profile.Variables["DIARY_FILE"])})
}

// bed is a host with one enrolled source, and its server.
type bed struct {
	*server
	dirs    Dirs
	profile Profile
	file    string // the diary
	clock   sync.Mutex
	now     time.Time
	waited  time.Duration
}

func newBed(t *testing.T) *bed {
	t.Helper()
	dir := t.TempDir()
	b := &bed{server: newServer(t),
		dirs: Dirs{Profiles: filepath.Join(dir, "profiles"), State: filepath.Join(dir, "state")},
		file: filepath.Join(dir, "diary", "diary.txt"), now: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)}
	if err := os.Mkdir(filepath.Dir(b.file), 0o700); err != nil {
		t.Fatal(err)
	}
	var err error
	b.profile, err = WriteProfile(b.dirs, Profile{
		BaseURL: b.URL, DeviceID: device, Token: WrapToken(secret), SourceInstanceID: source, ConnectorID: "diary",
		Variables: map[string]string{roleVariable: "diary", "DIARY_FILE": b.file, "GORACE": "atexit_sleep_ms=0"},
	}, false)
	if err != nil {
		t.Fatal(err)
	}
	b.write(t)
	return b
}

// write replaces the content of the diary file with lines.
func (b *bed) write(t *testing.T, lines ...string) {
	t.Helper()
	if err := os.WriteFile(b.file, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
}

func days(from, to int) (lines []string) {
	for i := from; i <= to; i++ {
		lines = append(lines, fmt.Sprintf("day%04d", i))
	}
	return lines
}

// collector works on a clock that only waiting moves.
func (b *bed) collector(t *testing.T) *Collector {
	t.Helper()
	profile, err := Find(b.dirs, source)
	if err != nil {
		t.Fatal(err)
	}
	return &Collector{
		Profile: profile, Dirs: b.dirs, Connectors: diary(profile), Bindings: bindings, AgentVersion: "test",
		Policy: Policy{BatchRecords: 100},
		Now: func() time.Time {
			b.clock.Lock()
			defer b.clock.Unlock()
			return b.now
		},
		Wait: func(ctx context.Context, d time.Duration) error {
			b.clock.Lock()
			defer b.clock.Unlock()
			b.now, b.waited = b.now.Add(d), b.waited+d
			return ctx.Err()
		},
	}
}

func (b *bed) run(t *testing.T) Report {
	t.Helper()
	r, err := b.collector(t).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (b *bed) mustRun(t *testing.T) Report {
	t.Helper()
	r := b.run(t)
	if !r.OK() || r.Status != "healthy" {
		t.Fatalf("the pass ended as %+v (run %+v)", r, r.Run)
	}
	return r
}

// starts lists what each run of the connector was started with.
func (b *bed) starts(t *testing.T) []string {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(filepath.Dir(b.file), "data", "runs"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.FieldsFunc(string(body), func(r rune) bool { return r == '\n' })
}

// mustHave holds what the server accepted against the truth: nothing lost,
// nothing invented, nothing twice.
func (b *bed) mustHave(t *testing.T, stream string, keys ...string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	var got []string
	for name, times := range b.accepted {
		if key, ok := strings.CutPrefix(name, stream+"/"); ok {
			got = append(got, key)
			if times != 1 {
				t.Errorf("%s was accepted %d times", name, times)
			}
		}
	}
	slices.Sort(got)
	want := slices.Sorted(slices.Values(keys))
	if !slices.Equal(got, want) {
		t.Errorf("the server has %d of %s, want %d\n got %.300v\nwant %.300v", len(got), stream, len(want), got, want)
	}
}

// randomParts matches what differs between two runs of a test.
var randomParts = regexp.MustCompile(`(run_id|installation_id)":"[^"]+|(local-outbox:)[0-9a-f]{64}|(sent_at":")` +
	`[^."]*\.\d+Z`)

// mustHold compares the reports of a test, and what the server received except records, with testdata/TEST.txt.
// Heartbeats while the pass works depend on the speed of the machine and are left out.
func (b *bed) mustHold(t *testing.T, reports ...Report) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	var lines []string
	for i, name := range b.requests {
		if name != "POST ingest-batches" && !strings.Contains(b.bodies[i], `"status":"retrying"`) {
			lines = append(lines, name+" "+b.bodies[i])
		}
	}
	for _, r := range reports {
		body, err := json.Marshal(r, json.Deterministic(true))
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, "report "+string(body))
	}
	goldentest.Hold(t, t.Name()+".txt",
		randomParts.ReplaceAllString(strings.Join(slices.Compact(lines), "\n"), "$1$2$3*")+"\n")
}

func (b *bed) mustHaveState(t *testing.T, stream, want string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if got := string(b.state[stream]); got != want {
		t.Errorf("the server's cursor of %s is %q, want %q", stream, got, want)
	}
}

func (b *bed) box(t *testing.T) *outbox.Outbox {
	t.Helper()
	box, err := outbox.Open(t.Context(), b.profile.Queue)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = box.Close() })
	return box
}
