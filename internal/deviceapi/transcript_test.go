package deviceapi_test

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/quality/goldentest"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// transcript collects the distinct answers of a test, and the rows that the test left in its databases. Both are
// compared with testdata/TEST.txt, so that a test compares whole answers and rows, not only the members that it
// asserts. The two databases share one file.
type transcript struct {
	mu    sync.Mutex
	lines map[string]bool
}

var (
	transcriptsMu sync.Mutex
	transcripts   = map[testing.TB]*transcript{}
)

// transcriptOf returns the transcript of a test, which is compared when the test ends.
func transcriptOf(tb testing.TB) *transcript {
	transcriptsMu.Lock()
	defer transcriptsMu.Unlock()
	if found := transcripts[tb]; found != nil {
		return found
	}
	tr := &transcript{lines: map[string]bool{}}
	transcripts[tb] = tr
	if t, ok := tb.(*testing.T); ok { // a fuzz target has other inputs each time
		t.Cleanup(func() {
			name, _, _ := strings.Cut(t.Name(), "/")
			if !t.Failed() {
				goldentest.Hold(t, name+".txt", strings.Join(slices.Sorted(maps.Keys(tr.lines)), "\n")+"\n")
			}
		})
	}
	return tr
}

// randomParts matches identifiers and hashes that differ between two runs of a test.
var randomParts = regexp.MustCompile(`\b(dexp|dsrc|dcred|run|req|aud)_[A-Za-z0-9]{26}|\b(ldt)_[\w-]{43}|\b(evt)` +
	`_[0-9a-f]{32}` +
	`|("envelope_hash":")[0-9a-f]{64}`)

func (tr *transcript) add(format string, args ...any) {
	line := randomParts.ReplaceAllString(strings.TrimSpace(fmt.Sprintf(format, args...)), "${1}${2}${3}${4}_*")
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.lines[line] = true
}

// addRow adds a row of a table.
func (tr *transcript) addRow(t testing.TB, table string, row any) {
	t.Helper()
	body, err := json.Marshal(row, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	tr.add("%s %s", table, body)
}

// addRows adds what devices can write: devices with their sources, connections with their records, cursors, gaps
// and runs, and the audit trail.
func (tr *transcript) addRows(t testing.TB, st store.Store) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // cleanup functions run after the test's context has ended
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	devices, err := st.ListDevices(ctx)
	must(err)
	for _, d := range devices {
		tr.addRow(t, "device", d)
		sources, err := st.DeviceSources(ctx, d.ID)
		must(err)
		for _, s := range sources {
			tr.addRow(t, "source", s)
		}
	}
	connections, err := st.ListConnections(ctx)
	must(err)
	for _, c := range connections {
		tr.addRow(t, "connection", c)
		for _, stream := range []string{"log", "notes"} {
			records, err := st.ListRecords(ctx,
				store.RecordQuery{AccessFilter: store.AccessFilter{ConnectionID: c.ID, Stream: stream}})
			must(err)
			for _, r := range records {
				if len(r.Data) > 200 {
					r.Data = fmt.Appendf(nil, `"%d bytes"`, len(r.Data))
				}
				tr.addRow(t, "record", r)
			}
		}
		cursors, err := st.Cursors(ctx, c.ID, "")
		must(err)
		for _, cursor := range cursors {
			tr.addRow(t, "cursor", cursor)
		}
		gaps, err := st.ListGaps(ctx, store.GapQuery{ConnectionID: c.ID})
		must(err)
		for _, g := range gaps {
			tr.addRow(t, "gap", g)
		}
		runs, err := st.ListRuns(ctx, store.RunQuery{ConnectionID: c.ID})
		must(err)
		for _, r := range runs {
			tr.addRow(t, "run", r)
			events, err := st.RunEvents(ctx, r.ID, 0, 100)
			must(err)
			for _, e := range events {
				tr.addRow(t, "event", e)
			}
		}
	}
	entries, err := st.AuditEntries(ctx, store.AuditQuery{})
	must(err)
	for _, e := range entries {
		e.ID = 0
		tr.addRow(t, "audit", e)
	}
}
