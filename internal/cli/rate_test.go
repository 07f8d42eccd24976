package cli

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
)

// rateShop is a store with one connection, for runs that reported rates.
type rateShop struct {
	store.Store
	t    *testing.T
	home string
	now  time.Time
}

const shopConnection = "cin_pear_1"

func newRateShop(t *testing.T) *rateShop {
	t.Helper()
	home := t.TempDir()
	st, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(home, "pdpp.db")), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	env, _, _ := testEnvironment(t, nil)
	b := &rateShop{Store: st, t: t, home: home, now: env.Now()}
	b.must(st.CreateConnection(t.Context(), store.Connection{
		ID: shopConnection, ConnectorID: "pear", DisplayName: "Pear", Status: store.ConnectionActive,
		SourceKind: store.SourceAccount, CreatedAt: b.now, UpdatedAt: b.now,
	}))
	return b
}

// reopen opens the store again after a command.
func (b *rateShop) reopen() {
	b.t.Helper()
	st, err := sqlite.Open(b.t.Context(), filepath.Join(b.home, "pdpp.db"), sqlite.Options{})
	b.must(err)
	b.Store = st
}

func (b *rateShop) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// begin starts a run some time before now, with a lease of a minute.
func (b *rateShop) begin(id string, ago time.Duration) store.Lease {
	b.t.Helper()
	l, err := b.StartRun(b.t.Context(), store.RunStart{
		RunID: id, ConnectionID: shopConnection, ConnectorID: "pear", Trigger: store.TriggerManual, Holder: "test",
		TTL: time.Minute, Streams: []store.StreamSpec{{Name: "trees"}, {Name: "apples"}},
	}, b.now.Add(-ago))
	b.must(err)
	return l
}

// ended adds a finished run with data in its last event.
func (b *rateShop) ended(id string, ago time.Duration, status store.RunStatus, data string) {
	b.t.Helper()
	l := b.begin(id, ago)
	b.must(b.FinishRun(b.t.Context(), l, store.RunOutcome{
		Status: status, Event: slice.Event{Type: "run.over", Data: jsontext.Value(data)},
	}, b.now.Add(-ago)))
}

// bookmark stores a cursor.
func (b *rateShop) bookmark(l store.Lease, stream, cursor string) {
	b.t.Helper()
	_, err := b.CommitSlice(b.t.Context(), l,
		slice.Slice{Cursors: []slice.Cursor{{Stream: stream, Cursor: jsontext.Value(cursor)}}}, b.now)
	b.must(err)
}

// rate runs the command and returns its output.
func (b *rateShop) rate(args ...string) string {
	b.t.Helper()
	b.must(b.Close())
	env, out, errOut := testEnvironment(b.t, nil, append([]string{"rate", shopConnection, "--home", b.home}, args...)...)
	if code := Main(env); code != failure.ExitOK {
		b.t.Fatalf("code %d, err %q", code, errOut)
	}
	return out.String()
}

func rateData(interval, ceiling, perMinute, ceilingPerMinute float64, backoff, history string) string {
	return fmt.Sprintf(`{"collection_rate":{"object":"collection_rate","current_interval_ms":%v,"ceiling_interval_ms":%v,`+
		`"effective_rate_per_min":%v,"ceiling_rate_per_min":%v,"last_backoff":%s}%s}`, interval, ceiling, perMinute,
		ceilingPerMinute, backoff, history)
}

func wantLines(t *testing.T, out string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains("\n"+out, "\n"+w) {
			t.Errorf("no line begins with %q in:\n%s", w, out)
		}
	}
}

// What the controller reported and learned is read back from where runs leave it.
func TestStoredRateIsShown(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RC-05")
	b := newRateShop(t)
	b.ended("run_a", 3*time.Hour, store.RunFailed,
		rateData(900, 200, 66.666, 300, `{"at_interval_ms":900,"reason":"throttle"}`,
			`,"rate_history":{"observed":3,"backoffs":1,"points":[{"offset_ms":0,"interval_ms":1000},{"offset_ms":900,`+
				`"interval_ms":600},{"offset_ms":4000,"interval_ms":900,"backoff":"throttle"}]}`))
	b.ended("run_b", 2*time.Hour, store.RunSucceeded, `{"records_emitted":0}`)
	b.ended("run_c", time.Hour, store.RunCancelled, rateData(720, 200, 83.333, 300, `null`,
		`,"rate_history":{"observed":500,"backoffs":0,"points":[{"offset_ms":0,"interval_ms":800},{"offset_ms":60000,`+
			`"interval_ms":720}]}`))
	l := b.begin("run_d", 30*time.Second)
	b.bookmark(l, "trees", fmt.Sprintf(`{"page":3,"pacing_interval_ms":720,"pacing_recorded_at_ms":%d,`+
		`"pacing_limit_per_min":85.5,"pacing_refused_per_min":90,"pacing_sweep":120,"pacing_pause_ms":4000,`+
		`"pacing_cost_ms":250.5}`,
		b.now.Add(-12*time.Minute).UnixMilli()))
	b.bookmark(l, "apples", fmt.Sprintf(`{"pacing_interval_ms":1,"pacing_recorded_at_ms":%d}`,
		b.now.Add(-13*time.Minute).UnixMilli()))
	b.must(b.FinishRun(t.Context(), l,
		store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"}}, b.now))

	out := b.rate()
	wantLines(t, out,
		"pace           83 a minute, every 0.72 s\n",
		"ceiling        300 a minute, every 0.20 s\n",
		"learned limit  86 a minute (stored 12 minutes ago)\n",
		"last back-off  slowed down after a refusal, at 67 a minute, every 0.90 s",
		"covers         2 runs with a rate, of the last 4\n",
	)

	var got api.Pace
	env, raw, _ := testEnvironment(t, nil, "rate", "pear", "--json", "--home", b.home)
	if code := Main(env); code != failure.ExitOK {
		t.Fatalf("code %d", code)
	}
	b.must(json.Unmarshal(raw.Bytes(), &got))
	number := func(v float64) *float64 { return &v }
	began := b.now.Add(-3 * time.Hour)
	want := api.Pace{
		ConnectionID: shopConnection, ConnectorID: "pear", Examined: 4, CurrentPerMinute: number(83.333),
		CeilingPerMinute: number(300),
		Learned: &api.Learned{
			Stream: "trees", RecordedAt: b.now.Add(-12 * time.Minute), Fresh: true, IntervalMS: 720,
			LimitPerMin: number(85.5), RefusedPerMin: number(90), Sweep: number(120), PauseMS: number(4000),
			CostMS: number(250.5),
		},
		Runs: []api.RunPace{{
			RunID: "run_a", Status: "failed", StartedAt: began, CompletedAt: &began, CeilingPerMinute: number(300), Observed: 3,
			Points: []api.PacePoint{
				{At: began, PerMinute: 60}, {At: began.Add(900 * time.Millisecond), PerMinute: 100},
				{At: began.Add(4 * time.Second), PerMinute: 60_000.0 / 900},
			},
			Backoffs: []api.Backoff{{At: began.Add(4 * time.Second), PerMinute: 60_000.0 / 900,
				Reason: "The source refused the pace."}},
		}, got.Runs[1]},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pace (-want +got):\n%s", diff)
	}
	if newest := got.Runs[1]; newest.RunID != "run_c" || newest.Observed != 500 || len(newest.Points) != 2 ||
		len(newest.Backoffs) != 0 {
		t.Errorf("the newest run %+v", newest)
	}
}

// The number of sharing connections is printed only if the quota is shared.
func TestSharedPaceIsTold(t *testing.T) {
	t.Parallel()
	b := newRateShop(t)
	if out := b.rate(); strings.Contains(out, "shared by") {
		t.Errorf("shared with nobody:\n%s", out)
	}
	b.reopen()
	l := b.begin("run_a", time.Second)
	_, err := b.JoinAllowance(t.Context(), l, "k", "pear", b.now)
	b.must(err)
	b.must(b.CreateConnection(t.Context(), store.Connection{
		ID: "cin_pear_2", ConnectorID: "pear", DisplayName: "Pear two", Status: store.ConnectionActive,
		SourceKind: store.SourceAccount, CreatedAt: b.now, UpdatedAt: b.now,
	}))
	other, err := b.StartRun(t.Context(), store.RunStart{RunID: "run_b", ConnectionID: "cin_pear_2", ConnectorID: "pear",
		Trigger: store.TriggerManual, Holder: "test", TTL: time.Minute}, b.now)
	b.must(err)
	_, err = b.JoinAllowance(t.Context(), other, "k", "pear", b.now)
	b.must(err)
	b.must(b.FinishRun(t.Context(), other,
		store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"}}, b.now))
	wantLines(t, b.rate(), "shared by      2 connections, this one included; 1 run draws on it now\n")
	var got api.Pace
	env, raw, _ := testEnvironment(t, nil, "rate", shopConnection, "--json", "--home", b.home)
	if code := Main(env); code != failure.ExitOK {
		t.Fatalf("code %d", code)
	}
	b.must(json.Unmarshal(raw.Bytes(), &got))
	if diff := cmp.Diff(&api.Sharers{Connections: 2, Runs: 1}, got.Shared); diff != "" {
		t.Error(diff)
	}
}

// A limit that the provider never showed is not a limit of zero.
func TestLimitThatWasNotMet(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]string{"absent": "", "zero": `,"pacing_limit_per_min":0`,
		"malformed": `,"pacing_limit_per_min":"many"`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newRateShop(t)
			l := b.begin("run_a", time.Second)
			b.bookmark(l, "trees", fmt.Sprintf(`{"pacing_interval_ms":720,"pacing_recorded_at_ms":%d%s}`, b.now.UnixMilli(),
				limit))
			out := b.rate()
			wantLines(t, out, "pace           not measured\n", "learned limit  not met yet (stored just now)\n",
				"last back-off  not measured\n")
			if strings.Contains(out, " 0 a minute") {
				t.Errorf("a false zero in:\n%s", out)
			}
		})
	}
}

// An active run, and a run without a live process, have no final event. Their timeline is used instead.
func TestRateOfAnUnfinishedRun(t *testing.T) {
	t.Parallel()
	b := newRateShop(t)
	report := func(l store.Lease, since time.Duration, interval float64, backoff string) {
		run, err := b.Run(t.Context(), l.RunID)
		b.must(err)
		at := run.StartedAt.Add(since)
		_, err = b.CommitSlice(t.Context(), l, slice.Slice{Events: []slice.Event{
			{Type: "run.progress_reported", At: at,
				Data: jsontext.Value(rateData(interval, 100, 60000/interval, 600, backoff, ""))},
			{Type: "run.progress_reported", At: at, Data: jsontext.Value(`{"message":"no rate here"}`)},
		}}, at)
		b.must(err)
	}
	died := b.begin("run_died", time.Hour)
	report(died, 0, 1000, "null")
	report(died, 10*time.Second, 2000, `{"at_interval_ms":2000,"reason":"retry_after"}`)
	live := b.begin("run_live", 30*time.Second) // takes over, and leaves the other abandoned
	report(live, 5*time.Second, 500, "null")

	out := b.rate("--json")
	var got api.Pace
	b.must(json.Unmarshal([]byte(out), &got))
	if !got.Live || got.CurrentPerMinute == nil || *got.CurrentPerMinute != 120 {
		t.Errorf("pace %+v", got)
	}
	if len(got.Runs) != 2 || got.Runs[0].Status != "abandoned" || got.Runs[1].RunID != "run_live" {
		t.Fatalf("runs %+v", got.Runs)
	}
	began := got.Runs[0].StartedAt
	slowed := api.Backoff{At: began.Add(10 * time.Second), PerMinute: 30, Paused: true,
		Reason: "The source asked to wait."}
	if diff := cmp.Diff([]api.PacePoint{{At: began, PerMinute: 60}, {At: slowed.At, PerMinute: 30}},
		got.Runs[0].Points); diff != "" {
		t.Errorf("points (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]api.Backoff{slowed}, got.Runs[0].Backoffs); diff != "" {
		t.Errorf("back-offs (-want +got):\n%s", diff)
	}

	env, text, _ := testEnvironment(t, nil, "rate", "pear", "--home", b.home)
	if code := Main(env); code != failure.ExitOK {
		t.Fatalf("code %d", code)
	}
	wantLines(t, text.String(), "pace           120 a minute, every 0.50 s (running now)\n",
		"last back-off  the source asked for a pause, at 30 a minute, every 2.0 s")
	for line := range bytes.Lines(text.Bytes()) {
		if len(bytes.TrimRight(line, "\n")) > 80 {
			t.Errorf("a line of %d: %s", len(line), line)
		}
	}
}
