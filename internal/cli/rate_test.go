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

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/keep/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/keep/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/slice"
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
	st, err := sqlite.Open(t.Context(), sqlitetest.Fresh(t, filepath.Join(home, databaseFile)), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	env, _, _ := testEnv(t, nil)
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
	st, err := sqlite.Open(b.t.Context(), filepath.Join(b.home, databaseFile), sqlite.Options{})
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

// ended is a run with the given data in its last event.
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
	_, err := b.CommitSlice(b.t.Context(), l, slice.Slice{Cursors: []slice.Cursor{{Stream: stream, Cursor: jsontext.Value(cursor)}}}, b.now)
	b.must(err)
}

// rate runs the command and gives its output.
func (b *rateShop) rate(args ...string) string {
	b.t.Helper()
	b.must(b.Close())
	env, out, errOut := testEnv(b.t, nil, append([]string{"rate", shopConnection, "--home", b.home}, args...)...)
	if code := Main(env); code != ExitOK {
		b.t.Fatalf("code %d, err %q", code, errOut)
	}
	return out.String()
}

func rateData(interval, ceiling, perMinute, ceilingPerMinute float64, backoff, history string) string {
	return fmt.Sprintf(`{"collection_rate":{"object":"collection_rate","current_interval_ms":%v,"ceiling_interval_ms":%v,`+
		`"effective_rate_per_min":%v,"ceiling_rate_per_min":%v,"last_backoff":%s}%s}`, interval, ceiling, perMinute, ceilingPerMinute, backoff, history)
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
	b.ended("run_a", 3*time.Hour, store.RunFailed, rateData(900, 200, 66.666, 300, `{"at_interval_ms":900,"reason":"throttle"}`,
		`,"rate_history":{"observed":3,"backoffs":1,"points":[{"offset_ms":0,"interval_ms":1000},{"offset_ms":900,"interval_ms":600},{"offset_ms":4000,"interval_ms":900,"backoff":"throttle"}]}`))
	b.ended("run_b", 2*time.Hour, store.RunSucceeded, `{"records_emitted":0}`)
	b.ended("run_c", time.Hour, store.RunCancelled, rateData(720, 200, 83.333, 300, `null`,
		`,"rate_history":{"observed":500,"backoffs":0,"points":[{"offset_ms":0,"interval_ms":800},{"offset_ms":60000,"interval_ms":720}]}`))
	l := b.begin("run_d", 30*time.Second)
	b.bookmark(l, "trees", fmt.Sprintf(`{"page":3,"pacing_interval_ms":720,"pacing_recorded_at_ms":%d,"pacing_limit_per_min":85.5,"pacing_refused_per_min":90,"pacing_sweep":120,"pacing_pause_ms":4000,"pacing_cost_ms":250.5}`,
		b.now.Add(-12*time.Minute).UnixMilli()))
	b.bookmark(l, "apples", fmt.Sprintf(`{"pacing_interval_ms":1,"pacing_recorded_at_ms":%d}`, b.now.Add(-13*time.Minute).UnixMilli()))
	b.must(b.FinishRun(t.Context(), l, store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"}}, b.now))

	out := b.rate()
	wantLines(t, out,
		"pace           one request every 720ms, 83.3 per minute\n",
		"ceiling        one request every 200ms, 300 per minute\n",
		"learned limit  85.5 per minute (stored 12 minutes ago)\n",
		"last back-off  the provider refused the pace; slowed to 900ms between requests",
		"covers         2 runs with a rate, of the last 4\n",
	)

	var got api.Pace
	env, raw, _ := testEnv(t, nil, "rate", "pear", "--json", "--home", b.home)
	if code := Main(env); code != ExitOK {
		t.Fatalf("code %d", code)
	}
	b.must(json.Unmarshal(raw.Bytes(), &got))
	number := func(v float64) *float64 { return &v }
	began := b.now.Add(-3 * time.Hour)
	want := api.Pace{
		ConnectionID: shopConnection, ConnectorID: "pear", Examined: 4, CurrentPerMinute: number(83.333), CeilingPerMinute: number(300),
		Learned: &api.Learned{
			Stream: "trees", RecordedAt: b.now.Add(-12 * time.Minute), Fresh: true, IntervalMS: 720,
			LimitPerMin: number(85.5), RefusedPerMin: number(90), Sweep: number(120), PauseMS: number(4000), CostMS: number(250.5),
		},
		Runs: []api.RunPace{{
			RunID: "run_a", Status: "failed", StartedAt: began, CompletedAt: &began, CeilingPerMinute: number(300), Observed: 3,
			Points: []api.PacePoint{
				{At: began, PerMinute: 60}, {At: began.Add(900 * time.Millisecond), PerMinute: 100}, {At: began.Add(4 * time.Second), PerMinute: 60_000.0 / 900},
			},
			Backoffs: []api.Backoff{{At: began.Add(4 * time.Second), PerMinute: 60_000.0 / 900, Reason: "The source refused the pace."}},
		}, got.Runs[1]},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pace (-want +got):\n%s", diff)
	}
	if newest := got.Runs[1]; newest.RunID != "run_c" || newest.Observed != 500 || len(newest.Points) != 2 || len(newest.Backoffs) != 0 {
		t.Errorf("the newest run %+v", newest)
	}
}

// Who shares the allowance is told, and only where somebody does.
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
		ID: "cin_pear_2", ConnectorID: "pear", DisplayName: "Pear two", Status: store.ConnectionActive, SourceKind: store.SourceAccount, CreatedAt: b.now, UpdatedAt: b.now,
	}))
	other, err := b.StartRun(t.Context(), store.RunStart{RunID: "run_b", ConnectionID: "cin_pear_2", ConnectorID: "pear", Trigger: store.TriggerManual, Holder: "test", TTL: time.Minute}, b.now)
	b.must(err)
	_, err = b.JoinAllowance(t.Context(), other, "k", "pear", b.now)
	b.must(err)
	b.must(b.FinishRun(t.Context(), other, store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"}}, b.now))
	wantLines(t, b.rate(), "shared by      2 connections, this one included; 1 run draws on it now\n")
	var got api.Pace
	env, raw, _ := testEnv(t, nil, "rate", shopConnection, "--json", "--home", b.home)
	if code := Main(env); code != ExitOK {
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
	for name, limit := range map[string]string{"absent": "", "zero": `,"pacing_limit_per_min":0`, "malformed": `,"pacing_limit_per_min":"many"`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newRateShop(t)
			l := b.begin("run_a", time.Second)
			b.bookmark(l, "trees", fmt.Sprintf(`{"pacing_interval_ms":720,"pacing_recorded_at_ms":%d%s}`, b.now.UnixMilli(), limit))
			out := b.rate()
			wantLines(t, out, "pace           not measured\n", "learned limit  not met yet (stored just now)\n", "last back-off  not measured\n")
			if strings.Contains(out, " 0 per minute") {
				t.Errorf("a false zero in:\n%s", out)
			}
		})
	}
}

// A run that goes on, and one whose process died, have no last event that sums
// them up; their timeline tells.
func TestRateOfAnUnfinishedRun(t *testing.T) {
	t.Parallel()
	b := newRateShop(t)
	report := func(l store.Lease, since time.Duration, interval float64, backoff string) {
		run, err := b.Run(t.Context(), l.RunID)
		b.must(err)
		at := run.StartedAt.Add(since)
		_, err = b.CommitSlice(t.Context(), l, slice.Slice{Events: []slice.Event{
			{Type: "run.progress_reported", At: at, Data: jsontext.Value(rateData(interval, 100, 60000/interval, 600, backoff, ""))},
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
	slowed := api.Backoff{At: began.Add(10 * time.Second), PerMinute: 30, Paused: true, Reason: "The source asked to wait."}
	if diff := cmp.Diff([]api.PacePoint{{At: began, PerMinute: 60}, {At: slowed.At, PerMinute: 30}}, got.Runs[0].Points); diff != "" {
		t.Errorf("points (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]api.Backoff{slowed}, got.Runs[0].Backoffs); diff != "" {
		t.Errorf("back-offs (-want +got):\n%s", diff)
	}

	env, text, _ := testEnv(t, nil, "rate", "pear", "--home", b.home)
	if code := Main(env); code != ExitOK {
		t.Fatalf("code %d", code)
	}
	wantLines(t, text.String(), "pace           one request every 500ms, 120 per minute (running now)\n",
		"last back-off  the provider asked to wait; slowed to 2s between requests")
	for line := range bytes.Lines(text.Bytes()) {
		if len(bytes.TrimRight(line, "\n")) > ratePlotWide {
			t.Errorf("a line of %d: %s", len(line), line)
		}
	}
}

func TestRichTerminal(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		vars map[string]string
		want bool
	}{
		{map[string]string{"TERM": "xterm", "LANG": "de_DE.UTF-8"}, true},
		{map[string]string{"LC_ALL": "C.utf8"}, true},
		{map[string]string{"LC_ALL": "C", "LANG": "de_DE.UTF-8"}, false},
		{map[string]string{"LANG": "C.UTF-8", "TERM": "dumb"}, false},
		{map[string]string{"LANG": "C.UTF-8", "TERM": "linux"}, false},
		{map[string]string{"LANG": "C.UTF-8", "NO_COLOR": "1"}, false},
		{nil, false},
	} {
		if got := richTerminal(func(name string) (string, bool) { v, ok := tt.vars[name]; return v, ok }); got != tt.want {
			t.Errorf("%v: %t, want %t", tt.vars, got, tt.want)
		}
	}
}

func TestRateWords(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		spanWords(0):               "0ms",
		spanWords(0.25):            "0.25ms",
		spanWords(333.333):         "333ms",
		spanWords(2500):            "2.5s",
		spanWords(90_000):          "1m30s",
		spanWords(1e300):           "277777h46m40s",
		rateWords(83.3333):         "83.3",
		rateWords(12345.6):         "12,345",
		rateWords(1e-9):            "under 0.001",
		ageWords(59 * time.Second): "just now",
		ageWords(time.Minute):      "1 minute ago",
		ageWords(5 * time.Hour):    "5 hours ago",
		ageWords(50 * time.Hour):   "2 days ago",
		ageWords(-time.Hour):       "in the future",
		backoffWords(false):        "the provider refused the pace",
		backoffWords(true):         "the provider asked to wait",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
