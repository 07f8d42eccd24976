package repair

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/view"
	"github.com/pdpp-go/pdpp/manifest"
)

var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

func ptr[T any](v T) *T { return &v }

// book implements the storage contract: revisions rise, older ones are rejected, and one record of a key is open at a
// time.
type book struct {
	records  map[string]attention.AttentionRecord
	asked    []time.Time // when confirming runs were asked for
	waiting  bool        // a request waits, or its run goes on
	now      func() time.Time
	schedule func(on bool)
	enabled  int
	saves    int
}

func older(a, b attention.AttentionRecord) int {
	return cmp.Or(a.OpenedAt.Compare(b.OpenedAt), strings.Compare(a.ID, b.ID))
}

var errRecord = errors.New("a record was written as it must not be")

func (b *book) Records(_ context.Context, ids []string, since time.Time) (out []attention.AttentionRecord, _ error) {
	for _, r := range b.records {
		if slices.Contains(ids, r.ConnectionID) && (r.Open() || !r.ClosedAt.Before(since)) {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, older)
	return out, nil
}

func (b *book) Save(_ context.Context, records []attention.AttentionRecord, run string) error {
	for _, r := range records {
		old, known := b.records[r.ID]
		switch {
		case r.ID == "" || known && !old.Open() || known && old.Key() != r.Key():
			return fmt.Errorf("%w: %+v after %+v", errRecord, r, old)
		case r.Revision != old.Revision:
			return ErrStale
		}
	}
	for _, r := range records {
		r.Revision++
		b.records[r.ID] = r
	}
	open := map[string]bool{}
	for _, r := range b.records {
		if r.Open() && open[r.Key()] {
			return fmt.Errorf("%w: two open records of %q", errRecord, r.Key())
		}
		open[r.Key()] = open[r.Key()] || r.Open()
	}
	b.saves++
	if run != "" {
		if b.waiting {
			return fmt.Errorf("%w: a second run is asked for before the first has ended", errRecord)
		}
		b.waiting, b.asked = true, append(b.asked, b.now())
	}
	return nil
}

func (b *book) EnableSchedule(context.Context, string, time.Time) (bool, error) {
	b.enabled++
	b.schedule(true)
	return true, nil
}

// world is one connection, its facts and its watcher. Facts change as a store
// would change them.
type world struct {
	evidence.Evidence
	now       time.Time
	runtimeOK bool
	runs      int
	records   *book
	watcher   *Watcher
}

// newWorld returns a scheduled connection with a successful run an hour ago.
func newWorld() *world {
	w := &world{now: noon, runtimeOK: true}
	w.Evidence = evidence.Evidence{
		Connection: evidence.Connection{ID: "cin_1", ConnectorID: "orchard", DisplayName: "Orchard",
			Status: evidence.StatusActive, SourceKind: "account", CreatedAt: noon.Add(-720 * time.Hour)},
		Refresh:    &manifest.RefreshPolicy{RecommendedMode: manifest.RefreshAutomatic, MaximumStalenessSeconds: 86400},
		Streams:    []evidence.Stream{{Name: "trees", Required: true}, {Name: "apples", Required: true}},
		Records:    &evidence.Records{Retained: 12},
		Schedule:   &evidence.Schedule{Enabled: true, IntervalSeconds: 7200, UpdatedAt: noon.Add(-700 * time.Hour)},
		Credential: &evidence.Credential{Status: evidence.CredentialActive, CapturedAt: noon.Add(-600 * time.Hour)},
		Gaps:       &evidence.Gaps{Recovered: ptr(int64(0)), Terminal: ptr(int64(0))},
	}
	w.records = &book{records: map[string]attention.AttentionRecord{}, now: func() time.Time { return w.now },
		schedule: w.setSchedule}
	ids := 0
	w.watcher = &Watcher{
		Store: w.records, RuntimeOK: func(context.Context) (bool, error) { return w.runtimeOK, nil },
		NewID: func() string { ids++; return fmt.Sprintf("att_%d", ids) }, Log: slog.New(slog.DiscardHandler),
	}
	w.now = noon.Add(-time.Hour)
	w.run("")
	w.now = noon
	return w
}

func (w *world) setSchedule(on bool) {
	w.Schedule = &evidence.Schedule{Enabled: on, IntervalSeconds: w.Schedule.IntervalSeconds, UpdatedAt: w.now}
}

func (w *world) storeCredential() {
	w.Credential = &evidence.Credential{Status: evidence.CredentialActive, CapturedAt: w.now}
}

func (w *world) rejectCredential() {
	c := *w.Credential
	c.Status, c.RejectedAt = evidence.CredentialRejected, ptr(w.now)
	w.Credential = &c
}

func (w *world) start() {
	w.runs++
	w.Active = &evidence.ActiveRun{ID: fmt.Sprintf("run_%d", w.runs), StartedAt: w.now}
}

// end ends the run under way: an empty code is a success, any other the connector's.
func (w *world) end(code string) {
	run := &evidence.Run{ID: w.Active.ID, Status: evidence.RunSucceeded, StartedAt: w.Active.StartedAt, EndedAt: w.now,
		Committed: ptr(int64(1))}
	if code == "" {
		w.LastSuccessAt = ptr(w.now)
	} else {
		run.Status = evidence.RunFailed
		run.Failure = &evidence.Failure{Reason: "connector_reported_failed", Code: code}
	}
	for i := range w.Streams {
		w.Streams[i].Fact = &evidence.Fact{
			RunID: run.ID, RunStatus: run.Status, At: w.now, Collected: 1, Considered: ptr(int64(1)), Covered: ptr(int64(1)),
			Checkpoint: evidence.CheckpointCommitted,
		}
	}
	w.LastRun, w.Active, w.Attention = run, nil, nil
	w.records.waiting = false
}

// run is a whole run of a minute.
func (w *world) run(code string) {
	w.start()
	w.wait(time.Minute)
	w.end(code)
}

func (w *world) ask(id string) {
	w.Attention = []evidence.Attention{{
		ID: id, RunID: w.Active.ID, Reason: "otp_required", Lifecycle: evidence.AttentionOpen, Sensitivity: "secret",
		OpenedAt: w.now, ExpiresAt: ptr(w.now.Add(time.Hour)),
	}}
}

func (w *world) wait(d time.Duration) { w.now = w.now.Add(d) }

func (w *world) look(t testing.TB) Heal {
	t.Helper()
	h, err := w.watcher.One(t.Context(), &w.Evidence, w.now)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (w *world) judge() view.Connection { return view.Judge(&w.Evidence, w.now, w.runtimeOK) }

// open are the open records, the oldest first.
func (w *world) open() (out []attention.AttentionRecord) {
	for _, r := range w.records.records {
		if r.Open() {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, older)
	return out
}

// only returns the one open record, which must be of the kind.
func (w *world) only(t testing.TB, kind string) attention.AttentionRecord {
	t.Helper()
	open := w.open()
	if len(open) != 1 || open[0].Kind != kind {
		t.Fatalf("open records are %+v, want one of %s", open, kind)
	}
	return open[0]
}

// expect looks, and compares what came of it.
func (w *world) expect(t testing.TB, status HealStatus, asked int) Heal {
	t.Helper()
	h := w.look(t)
	if h.Status != status || len(w.records.asked) != asked {
		t.Fatalf("the look came to %s (%s) with %d runs asked for, want %s and %d", h.Status, h.ErrorCode,
			len(w.records.asked), status, asked)
	}
	return h
}
