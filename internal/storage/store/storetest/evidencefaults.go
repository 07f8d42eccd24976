package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// Damaged is a store, a way to damage its database, and a second store over the same database with watched reads.
type Damaged struct {
	Store   store.Store
	Raw     *sql.DB
	Watched func(w *Watch) store.Store // sets the connector of w
	// Explain returns the database's plan of a query.
	Explain func(ctx context.Context, query string, args []any) (string, error)
}

// RunEvidence tests what cannot be seen through a store: how evidence is read, and how it handles a damaged database.
func RunEvidence(t *testing.T, open func(t *testing.T) Damaged) {
	for name, test := range map[string]func(*testing.T, Damaged){
		"Statements": testEvidenceStatements,
		"Snapshot":   testEvidenceSnapshot,
		"Families":   testEvidenceFamilies,
		"Lost":       testEvidenceLost,
		"Rows":       testEvidenceRows,
		"Cancelled":  testEvidenceCancelled,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// testEvidenceStatements checks that a page of any size takes the same number of statements.
func testEvidenceStatements(t *testing.T, d Damaged) {
	const large = 60
	ok(t, FillEvidence(t.Context(), d.Store, large))
	w := &Watch{}
	s := d.Watched(w)
	read := func(q evidence.Query, want int) int64 {
		t.Helper()
		before := w.queries.Load()
		all, err := s.Evidence(t.Context(), q)
		ok(t, err)
		same(t, len(all), want)
		return w.queries.Load() - before
	}
	named := make([]string, large)
	for i := range named {
		named[i] = evidenceID(i)
	}
	cold := read(evidence.Query{Limit: 1}, 1)
	warm := read(evidence.Query{Limit: 1}, 1)
	same(t, warm, cold-1) // the manifest is cached
	if warm > 16 {
		t.Errorf("a page takes %d statements", warm)
	}
	same(t, read(evidence.Query{Limit: large}, large), warm)
	same(t, read(evidence.Query{ConnectionIDs: named[:1]}, 1), warm)
	same(t, read(evidence.Query{ConnectionIDs: named}, large), warm)
	same(t, read(evidence.Query{After: evidenceID(large)}, 0), 1)
}

// testEvidenceSnapshot checks that a commit during the reading of a page is in all of it or in none.
func testEvidenceSnapshot(t *testing.T, d Damaged) {
	declare(t, d.Store, "c")
	l := start(t, d.Store, "c", "r1", Now)
	w := &Watch{}
	s := d.Watched(w)
	w.before = func(query int64) {
		if query == 2 { // the connections have been read
			put(t, d.Store, l, live("a", "1"))
			report(t, d.Store, l, Now, missingGap("g"))
			ok(t, d.Store.PutSchedule(t.Context(), store.Schedule{ConnectionID: "c", CreatedAt: Now, UpdatedAt: Now}))
			finish(t, d.Store, l, Now)
		}
	}
	e := evidenceOf(t, s, "c")
	same(t, e.Active, &evidence.ActiveRun{ID: "r1", StartedAt: Now, LeaseUntil: ptr(Now.Add(ttl))})
	same(t, e.Records, &evidence.Records{})
	same(t, len(e.Gaps.Groups), 0)
	same(t, e.LastRun, nil)
	same(t, e.Schedule, nil)
	e = evidenceOf(t, s, "c")
	same(t, e.Active, nil)
	same(t, e.Records.Retained, 1)
	same(t, len(e.Gaps.Groups), 1)
	same(t, e.LastRun.ID, "r1")
}

// testEvidenceLost checks that a connection lost in the middle of a page costs no family: the page is read again over
// another one.
func testEvidenceLost(t *testing.T, d Damaged) {
	ok(t, FillEvidence(t.Context(), d.Store, 1))
	id := evidenceID(0)
	sound := evidenceOf(t, d.Store, id)
	w := &Watch{}
	s := d.Watched(w)
	same(t, evidenceOf(t, s, id), sound)
	before := w.queries.Load()
	same(t, evidenceOf(t, s, id), sound)
	for i := range w.queries.Load() - before - 1 {
		lost := w.queries.Load() + i + 2 // the first reads the connections
		w.refuse = func(query int64) error {
			if query == lost {
				return io.ErrUnexpectedEOF
			}
			return nil
		}
		same(t, evidenceOf(t, s, id), sound)
	}
}

// testEvidenceFamilies checks that an unreadable table costs only its own family, which is reported.
func testEvidenceFamilies(t *testing.T, d Damaged) {
	t.Attr("spec", "CH-18.3") // unreadable gaps are not zero gaps
	ctx := t.Context()
	ok(t, FillEvidence(ctx, d.Store, 1))
	id := evidenceID(0) // a device feeds it, and it has gaps
	ok(t, d.Store.PutCredential(ctx,
		store.Credential{ConnectionID: id, Sealed: []byte("x"), Status: store.CredentialActive, CapturedAt: Now}))
	ok(t, d.Store.PutProbe(ctx,
		store.Probe{ConnectionID: id, Probe: evidence.Probe{Dimension: evidence.ProbeRuntime, Status: evidence.ProbeOK,
			At: Now}}))
	l := start(t, d.Store, id, "r2", Now.Add(time.Hour), store.StreamSpec{Name: "coverage_diagnostics"})
	commit(t, d.Store, l, slice.Slice{Records: []slice.Record{{Stream: "coverage_diagnostics", Key: "k",
		Data: []byte(`{"store":"s","status":"missing"}`)}}}, Now)
	ok(t, d.Store.OpenInteraction(ctx, l, store.Interaction{RequestID: "q", Kind: "otp"}, Now))
	sound := evidenceOf(t, d.Store, id)
	same(t, sound.Unreadable, nil)
	same(t, len(sound.Device.Stores), 1)

	for _, c := range []struct {
		table string
		lost  func(e *evidence.Evidence)
	}{
		{"streams", func(e *evidence.Evidence) {
			e.Unreadable, e.Records = []evidence.Family{evidence.FamilyRecords}, nil
			e.Streams = []evidence.Stream{{Name: "items", Required: true}, {Name: "lists", Required: true},
				{Name: "extras", Policy: "inventory_only"}}
			e.Device.LastIngestAt, e.Device.Stores = nil, nil // both come from streams
		}},
		{"run_history", func(e *evidence.Evidence) {
			e.Unreadable, e.Active, e.LastRun, e.LastSuccessAt, e.Rate = []evidence.Family{evidence.FamilyRuns}, nil, nil, nil,
				nil
		}},
		{"run_leases", func(e *evidence.Evidence) {
			e.Unreadable, e.Active, e.LastRun, e.LastSuccessAt, e.Rate = []evidence.Family{evidence.FamilyRuns}, nil, nil, nil,
				nil
		}},
		{"connector_schedules", func(e *evidence.Evidence) {
			e.Unreadable, e.Schedule = []evidence.Family{evidence.FamilySchedule}, nil
		}},
		{"scheduler_backoffs", func(e *evidence.Evidence) {
			e.Unreadable, e.Schedule = []evidence.Family{evidence.FamilySchedule}, nil
		}},
		{"provider_waits", func(e *evidence.Evidence) { e.Waits = nil }},
		{"connection_credentials", func(e *evidence.Evidence) {
			e.Unreadable, e.Credential = []evidence.Family{evidence.FamilyCredential}, nil
		}},
		{"readiness_probes", func(e *evidence.Evidence) {
			e.Unreadable, e.Probes = []evidence.Family{evidence.FamilyProbes}, nil
		}},
		{"interactions", func(e *evidence.Evidence) {
			e.Unreadable, e.Attention = []evidence.Family{evidence.FamilyRuns, evidence.FamilyAttention}, nil
			e.Active, e.LastRun, e.LastSuccessAt, e.Rate = nil, nil, nil, nil // a run is read with its questions
		}},
		{"connector_detail_gaps", func(e *evidence.Evidence) { e.Gaps = nil }},
		{"device_source_instances", func(e *evidence.Evidence) {
			e.Unreadable, e.Device = []evidence.Family{evidence.FamilyDevice}, nil
		}},
		{"records", func(e *evidence.Evidence) { e.Device.Stores = nil }},
		{"connector_manifests", func(e *evidence.Evidence) {}}, // the manifest is cached
	} {
		want := sound
		device := *sound.Device
		want.Device = &device
		c.lost(&want)
		d.hide(t, c.table, func() { same(t, evidenceOf(t, d.Store, id), want) })
	}
	same(t, evidenceOf(t, d.Store, id), sound)
	d.hide(t, "connector_manifests", func() {
		same(t, evidenceOf(t, d.Watched(&Watch{}), id).Unreadable, []evidence.Family{evidence.FamilyManifest})
	})
	d.hide(t, "provider_waits", func() {
		if e := evidenceOf(t, d.Store, id); e.Waits != nil {
			t.Error("waits that cannot be read look like none")
		}
	})
	d.hide(t, "connector_detail_gaps", func() {
		d.hide(t, "run_leases", func() {
			d.hide(t, "readiness_probes", func() {
				e := evidenceOf(t, d.Store, id)
				same(t, e.Unreadable, []evidence.Family{evidence.FamilyRuns, evidence.FamilyProbes})
				same(t, e.Gaps, nil)
			})
		})
	})
	d.hide(t, "connections", func() {
		if all, err := d.Store.Evidence(ctx, evidence.Query{}); err == nil {
			t.Fatalf("without connections there is evidence: %v", all)
		}
	})
}

// hide renames a table while fn runs.
func (d Damaged) hide(t *testing.T, table string, fn func()) {
	t.Helper()
	d.exec(t, fmt.Sprintf(`ALTER TABLE %s RENAME TO hidden_%s`, table, table))
	fn()
	d.exec(t, fmt.Sprintf(`ALTER TABLE hidden_%s RENAME TO %s`, table, table))
}

func (d Damaged) exec(t *testing.T, statement string) {
	t.Helper()
	_, err := d.Raw.ExecContext(t.Context(), statement)
	ok(t, err)
}

// testEvidenceRows checks that an unreadable value costs only its own connection.
func testEvidenceRows(t *testing.T, d Damaged) {
	ok(t, FillEvidence(t.Context(), d.Store, 3))
	one := ` = 'soon' WHERE connection_id = '` + evidenceID(1) + `'`
	d.exec(t, `UPDATE streams SET changed_at`+one)
	d.exec(t, `UPDATE run_history SET started_at`+one)
	d.exec(t, `UPDATE connector_schedules SET updated_at`+one)
	all, err := d.Store.Evidence(t.Context(), evidence.Query{})
	ok(t, err)
	same(t, all[0].Unreadable, nil)
	same(t, all[1].Unreadable, []evidence.Family{evidence.FamilyRecords, evidence.FamilyRuns, evidence.FamilySchedule})
	same(t, all[1].LastRun, nil)
	same(t, all[2].Unreadable, nil)
	same(t, all[2].Records.Retained, 3)
}

func testEvidenceCancelled(t *testing.T, d Damaged) {
	ok(t, FillEvidence(t.Context(), d.Store, 2))
	for _, at := range []int64{1, 2, 5} {
		ctx, cancel := context.WithCancel(t.Context())
		w := &Watch{}
		w.before = func(query int64) {
			if query == at {
				cancel()
			}
		}
		all, err := d.Watched(w).Evidence(ctx, evidence.Query{})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled before query %d: %v, %v", at, evidenceIDs(all), err)
		}
	}
}
