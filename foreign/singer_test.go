package foreign_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/foreign"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// An unchanged tap is wrapped, run and resumed: everything arrives once, and the second run resumes from the
// tap's own state.
func TestSingerTap(t *testing.T) {
	t.Parallel()
	b := newBed(t, "plain", map[string]any{"pages": 35, "visits": 12, "log": 3})
	first := b.run(launch.RunRequest{})
	if first.Status != runner.Succeeded {
		t.Fatalf("%s: %v\n%s", first.Status, first.Failure, first.StderrTail)
	}
	for stream, want := range map[string]int{"pages": 35, "visits": 12, "log": 3} {
		if got := len(b.keys(stream)); got != want {
			t.Errorf("%s: %d records, %d exist", stream, got, want)
		}
	}
	if first.RecordsEmitted != 50 {
		t.Errorf("%d records were sent", first.RecordsEmitted)
	}
	second := b.run(launch.RunRequest{})
	if second.Status != runner.Succeeded || second.RecordsEmitted != 3 { // the log has no state
		t.Errorf("%s, %d records again", second.Status, second.RecordsEmitted)
	}
}

// A tap that takes no notice of its catalog syncs nothing and exits with 0. No stream of it is
// complete.
//
//pdpp:tier unraced
func TestTapIgnoresItsCatalog(t *testing.T) {
	t.Parallel()
	b := newBed(t, "wrong-flag", map[string]any{"pages": 5}, func(o *foreign.Order) { o.Properties = false })
	edit(t, b, func(a *foreign.Adapter) { a.CatalogFlags = []string{"--catalog"} })
	result := b.run(launch.RunRequest{})
	if result.Status != runner.Failed || result.RecordsEmitted != 0 {
		t.Fatalf("%s, %d records", result.Status, result.RecordsEmitted)
	}
	if !strings.Contains(result.Failure.Message, "no SCHEMA") {
		t.Errorf("the failure says %q", result.Failure.Message)
	}
	// Without options both flags are passed, because its help names both.
	b = newBed(t, "wrong-flag", map[string]any{"pages": 5})
	if result := b.run(launch.RunRequest{}); result.Status != runner.Succeeded || len(b.keys("pages")) != 5 {
		t.Errorf("%s: %v", result.Status, result.Failure)
	}
}

// A run is killed after a random number of records, again and again. What is stored grows, and
// at the end everything is there once.
//
//pdpp:tier unraced
func TestTapKilled(t *testing.T) {
	t.Parallel()
	const pages, visits = 90, 60
	b := newBed(t, "plain", map[string]any{"pages": pages, "visits": visits, "stumble": 80})
	before := 0
	for run := 1; ; run++ {
		result := b.run(launch.RunRequest{})
		now := len(b.keys("pages")) + len(b.keys("visits"))
		if result.Status == runner.Succeeded {
			break
		}
		if now < before || run > 200 {
			t.Fatalf("run %d: %d records, %d before: %v", run, now, before, result.Failure)
		}
		before = now
	}
	if p, v := len(b.keys("pages")), len(b.keys("visits")); p != pages || v != visits {
		t.Errorf("%d pages of %d, %d visits of %d", p, pages, v, visits)
	}
}

// The folder holds no secret of the configuration that it was made from.
func TestWrapKeepsNoSecret(t *testing.T) {
	t.Parallel()
	b := newBed(
		t,
		"plain",
		map[string]any{
			"token":  "tok-hush",
			"region": "north",
			"pages":  1,
			"client": map[string]any{"api_key": "key-hush", "id": "c1"},
		},
	)
	for _, name := range []string{foreign.ManifestFile, foreign.AdapterFile} {
		body, err := os.ReadFile(filepath.Join(b.dir, "ledger", name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(body), "hush") {
			t.Errorf("%s holds a secret", name)
		}
	}
	m, a, err := foreign.Load(filepath.Join(b.dir, "ledger"))
	if err != nil {
		t.Fatal(err)
	}
	if got := m.CredentialEnv(); !slices.Equal(got, []string{"PDPP_LEDGER_CLIENT_API_KEY", "PDPP_LEDGER_TOKEN"}) {
		t.Errorf("credentials: %v", got)
	}
	if err := a.Values.Compact(); err != nil {
		t.Fatal(err)
	}
	if want := `{"client":{"id":"c1"},"pages":1,"region":"north"}`; string(a.Values) != want {
		t.Errorf("values: %s", a.Values)
	}
	pages, _ := m.Stream("pages")
	log, _ := m.Stream("log")
	switch {
	case !slices.Equal(pages.PrimaryKey, []string{"id"}),
		pages.Semantics != manifest.MutableState,
		pages.ConsentTimeField != "updated_at",
		pages.Checkpoint != manifest.CheckpointSlice:
		t.Errorf("pages: %+v", pages)
	case !slices.Equal(log.PrimaryKey, []string{foreign.DigestField}), log.Semantics != manifest.AppendOnly:
		t.Errorf("log: %+v", log)
	}
}

// The hosts that a program asks while it is wrapped are the ones that it may reach.
//
//pdpp:tier unraced
func TestWrapSeesHosts(t *testing.T) {
	t.Parallel()
	for _, encrypted := range []bool{false, true} {
		s := newService(t, nil, encrypted)
		b := s.over(
			t,
			"api",
			map[string]any{"pages": 2, "probe": true},
			func(o *foreign.Order) { o.Hosts, o.Opaque = nil, encrypted },
		)
		_, a, err := foreign.Load(filepath.Join(b.dir, "ledger"))
		if err != nil || !slices.Equal(a.Hosts, []string{s.host()}) {
			t.Errorf("hosts: %v, %v", a.Hosts, err)
		}
		if result := b.run(launch.RunRequest{}); result.Status != runner.Succeeded || len(b.keys("pages")) != 2 {
			t.Errorf("%s: %v\n%s", result.Status, result.Failure, result.StderrTail)
		}
	}
}

// Lines that are no messages do no harm, and small letters mean the same.
func TestChattyTap(t *testing.T) {
	t.Parallel()
	b := newBed(t, "chatty", nil)
	if result := b.run(launch.RunRequest{}); result.Status != runner.Succeeded || len(b.keys("pages")) != 1 {
		t.Errorf("%s: %v", result.Status, result.Failure)
	}
}

// Half a line may have been a record: the run fails, and nothing after it is believed.
//
//pdpp:tier unraced
func TestGarbledTap(t *testing.T) {
	t.Parallel()
	b := newBed(t, "garbage", nil)
	result := b.run(launch.RunRequest{})
	if result.Status != runner.Failed || !strings.Contains(result.Failure.Message, "neither a message nor text") {
		t.Errorf("%s: %v", result.Status, result.Failure)
	}
	if keys := b.keys("pages"); len(keys) != 1 || !keys["1"] {
		t.Errorf("stored: %v", keys)
	}
	if mark := b.bookmark("pages"); !strings.Contains(mark, `"pages":1`) {
		t.Errorf("bookmark: %s", mark)
	}
}

// A tap that hangs ends with its run: by the owner's longest run, and by a cancellation.
func TestHangingTap(t *testing.T) {
	t.Parallel()
	b := newBed(t, "hang", nil)
	ctx, cancel := context.WithCancel(t.Context())
	b.launcher.Committed = func(string, int) { cancel() }
	result, err := b.launcher.Run(
		ctx,
		launch.RunRequest{ConnectionID: connectortest.Connection, Trigger: store.TriggerManual},
	)
	if err != nil || result.Status == runner.Succeeded {
		t.Fatalf("%s: %v", result.Status, err)
	}
	if len(b.keys("pages")) != 1 {
		t.Errorf("stored: %v", b.keys("pages"))
	}
}

// What came before the last state of a tap that failed is kept, and the next run goes on there.
//
//pdpp:tier unraced
func TestFailingTap(t *testing.T) {
	t.Parallel()
	b := newBed(t, "fails", nil)
	for run := 1; run <= 3; run++ {
		result := b.run(launch.RunRequest{})
		if result.Status != runner.Failed || !strings.Contains(result.StderrTail, "Traceback: it broke") {
			t.Fatalf("%s: %v\n%s", result.Status, result.Failure, result.StderrTail)
		}
		for n := 1; n <= 5*run; n++ {
			if !b.keys("pages")[strconv.Itoa(n)] {
				t.Errorf("run %d: page %d is lost", run, n)
			}
		}
		if mark := b.bookmark("pages"); !strings.Contains(mark, fmt.Sprintf(`"pages":%d`, 5*run)) {
			t.Errorf("run %d: bookmark %s", run, mark)
		}
	}
}

// A record that its tap's own schema forbids is stored as it came, and counted.
//
//pdpp:tier unraced
func TestMistypedRecords(t *testing.T) {
	t.Parallel()
	b := newBed(t, "mistyped", nil)
	result := b.run(launch.RunRequest{})
	if result.Status != runner.Succeeded || len(b.keys("pages")) != 2 {
		t.Fatalf("%s: %v, stored %v", result.Status, result.Failure, b.keys("pages"))
	}
	if message := b.output.String(); !strings.Contains(message, "2 records do not match the tap's own schema") {
		t.Errorf("reported %s", message)
	}
}

// What does not come with an activated version is deleted, at the end of a run that ended well.
//
//pdpp:tier unraced
func TestActivatedVersions(t *testing.T) {
	t.Parallel()
	b := newBed(t, "versions", nil)
	set := func(version, from, to, early, exit int) launch.RunResult {
		edit(t, b, func(a *foreign.Adapter) {
			a.Values = jsontext.Value(
				fmt.Sprintf(`{"version":%d,"from":%d,"pages":%d,"early":%d,"exit":%d}`, version, from, to, early, exit),
			)
		})
		return b.run(launch.RunRequest{})
	}
	want := func(when string, from, to int) {
		t.Helper()
		keys := b.keys("pages")
		if len(keys) != to-from+1 || !keys[strconv.Itoa(from)] || !keys[strconv.Itoa(to)] {
			t.Errorf("%s: %v, want %d to %d", when, keys, from, to)
		}
	}
	set(1, 1, 6, 1, 0)
	want("at first", 1, 6)
	set(2, 3, 8, 0, 1)
	want("a version whose run failed", 1, 8)
	set(3, 3, 8, 1, 0)
	want("a version that came whole", 3, 8)
	set(3, 4, 8, 0, 0)
	want("the same version again, in part", 3, 8)
	set(4, 5, 4, 0, 0)
	if keys := b.keys("pages"); len(keys) != 0 {
		t.Errorf("an empty version leaves %v", keys)
	}
}

// Beyond the bound nothing is deleted, and the stream reports that.
//
//pdpp:tier unraced
func TestTooManyVersionKeys(t *testing.T) {
	t.Parallel()
	b := newBed(t, "versions", map[string]any{"version": 1, "from": 1, "pages": 10_001})
	delete(b.env, "PDPP_LEDGER_CHECKPOINT_INTERVAL_MS")
	b.run(launch.RunRequest{})
	edit(t, b, func(a *foreign.Adapter) { a.Values = jsontext.Value(`{"version":2,"from":1,"pages":5}`) })
	result := b.run(launch.RunRequest{})
	if result.Status != runner.Succeeded || len(b.keys("pages")) != 10_001 {
		t.Errorf("%s: %d are left", result.Status, len(b.keys("pages")))
	}
	if text := b.output.String(); !strings.Contains(text, "no deletion is inferred") {
		t.Errorf("reported %s", text)
	}
}

// Files are read only below the working directory, and only as JSON lines.
//
//pdpp:tier unraced
func TestBatches(t *testing.T) {
	t.Parallel()
	for place, good := range map[string]bool{"below": true, "outside": false, "up": false, "link": false,
		"bucket": false, "parquet": false} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, "batch", map[string]any{"batch": place})
			result := b.run(launch.RunRequest{})
			if want := map[bool]int{true: 3}[good]; (result.Status == runner.Succeeded) != good || len(b.keys("pages")) != want {
				t.Errorf("%s: %v, stored %v\n%s", result.Status, result.Failure, b.keys("pages"), result.StderrTail)
			}
		})
	}
}
