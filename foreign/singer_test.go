package foreign_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pdpp/foreign"
	"pdpp/internal/collect/launch"
	"pdpp/internal/collect/runner"
	"pdpp/manifest"
)

// A tap that nobody changed is wrapped, run and resumed: everything arrives once, and the second
// run goes on from the tap's own state.
func TestSingerTap(t *testing.T) {
	t.Parallel()
	b := newBed(t, "plain", map[string]any{"pages": 35, "visits": 12, "log": 3})
	first := b.run(launch.Request{})
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
	second := b.run(launch.Request{})
	if second.Status != runner.Succeeded || second.RecordsEmitted != 3 { // the log has no state
		t.Errorf("%s, %d records again", second.Status, second.RecordsEmitted)
	}
}

// A tap that takes no notice of its catalog syncs nothing and exits with 0. No stream of it is
// complete.
func TestTapIgnoresItsCatalog(t *testing.T) {
	t.Parallel()
	b := newBed(t, "wrong-flag", map[string]any{"pages": 5}, func(o *foreign.Order) { o.Properties = false })
	edit(t, b, func(a *foreign.Adapter) { a.CatalogFlags = []string{"--catalog"} })
	result := b.run(launch.Request{})
	if result.Status != runner.Failed || result.RecordsEmitted != 0 {
		t.Fatalf("%s, %d records", result.Status, result.RecordsEmitted)
	}
	if !strings.Contains(result.Failure.Message, "no SCHEMA") {
		t.Errorf("the failure says %q", result.Failure.Message)
	}
	// Wrapped as it is, both flags are given, since its help names both.
	b = newBed(t, "wrong-flag", map[string]any{"pages": 5})
	if result := b.run(launch.Request{}); result.Status != runner.Succeeded || len(b.keys("pages")) != 5 {
		t.Errorf("%s: %v", result.Status, result.Failure)
	}
}

// A run is killed after a random number of records, again and again. What is stored grows, and
// at the end everything is there once.
func TestTapKilled(t *testing.T) {
	t.Parallel()
	const pages, visits = 150, 100
	b := newBed(t, "plain", map[string]any{"pages": pages, "visits": visits, "stumble": 80})
	before := 0
	for run := 1; ; run++ {
		result := b.run(launch.Request{})
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
	b := newBed(t, "plain", map[string]any{"token": "tok-hush", "region": "north", "pages": 1, "client": map[string]any{"api_key": "key-hush", "id": "c1"}})
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
	case !slices.Equal(pages.PrimaryKey, []string{"id"}), pages.Semantics != manifest.MutableState, pages.ConsentTimeField != "updated_at", pages.Checkpoint != manifest.CheckpointSlice:
		t.Errorf("pages: %+v", pages)
	case !slices.Equal(log.PrimaryKey, []string{foreign.DigestField}), log.Semantics != manifest.AppendOnly:
		t.Errorf("log: %+v", log)
	}
}
