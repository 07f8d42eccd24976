package metrics

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// scrape returns the text of a scrape, and its families by name.
func scrape(t *testing.T, r *Recorder) (string, map[string]*dto.MetricFamily) {
	t.Helper()
	w := httptest.NewRecorder()
	r.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	text := w.Body.String()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return text, families
}

// values returns the values of a family, keyed by its label values in the order of their names.
func values(f *dto.MetricFamily) map[string]float64 {
	out := map[string]float64{}
	for _, m := range f.GetMetric() {
		var labels []string
		for _, l := range m.GetLabel() {
			labels = append(labels, l.GetValue())
		}
		value := m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetHistogram().GetSampleSum()
		out[strings.Join(labels, " ")] = value
	}
	return out
}

func want(t *testing.T, families map[string]*dto.MetricFamily, name string, want map[string]float64) {
	t.Helper()
	if diff := cmp.Diff(want, values(families[name])); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func record(r *Recorder) {
	r.RunEnded(Run{Connector: "acme", Trigger: "scheduled", Status: "succeeded", Duration: 90 * time.Second,
		GapsReported: 3, GapsRecovered: 2, Throttles: 4, Interval: 250 * time.Millisecond})
	r.RunEnded(Run{Connector: "acme", Trigger: "manual", Status: "failed", Duration: 10 * time.Second})
	r.SliceCommitted("acme", 40)
	r.SliceCommitted("acme", 2)
	r.Jobs([]JobCount{{"network", "available", 7}, {"network", "running", 2}})
	r.Jobs([]JobCount{{"network", "available", 5}, {"of ada@example.org", "available", 1}})
	r.Leases(2, 30*time.Second)
	r.SchedulerPass(Pass{Duration: 20 * time.Millisecond, Looks: 12, Enqueued: 3})
	r.SurfacePicture(700)
	r.SurfacePicture(300)
	r.SurfaceInput()
	r.SurfaceWatched(90 * time.Second)
	r.Pushed("ntfy", "delivered")
	r.Pushed("ntfy", "because of ada@example.org")
}

func TestEverythingIsCounted(t *testing.T) {
	r := New(Config{Version: "1.2.3", Revision: "abc", Connectors: []string{"acme"}, Queues: []string{"network"}})
	record(r)
	_, families := scrape(t, r)
	want(t, families, "pdpp_build_info", map[string]float64{"abc 1.2.3": 1})
	want(t, families, "pdpp_runs_total", map[string]float64{"acme succeeded scheduled": 1, "acme failed manual": 1})
	want(t, families, "pdpp_run_duration_seconds", map[string]float64{"acme": 100})
	want(t, families, "pdpp_slices_committed_total", map[string]float64{"acme": 2})
	want(t, families, "pdpp_records_committed_total", map[string]float64{"acme": 42})
	want(t, families, "pdpp_gaps_reported_total", map[string]float64{"acme": 3})
	want(t, families, "pdpp_gaps_recovered_total", map[string]float64{"acme": 2})
	want(t, families, "pdpp_throttles_total", map[string]float64{"acme": 4})
	want(t, families, "pdpp_request_interval_seconds", map[string]float64{"acme": 0.25})
	want(t, families, "pdpp_queue_jobs", map[string]float64{"network available": 5, "other available": 1})
	want(t, families, "pdpp_leases_held", map[string]float64{"": 2})
	want(t, families, "pdpp_lease_oldest_age_seconds", map[string]float64{"": 30})
	want(t, families, "pdpp_scheduler_pass_duration_seconds", map[string]float64{"": 0.02})
	want(t, families, "pdpp_scheduler_pass_looks", map[string]float64{"": 12})
	want(t, families, "pdpp_scheduler_jobs_enqueued_total", map[string]float64{"": 3})
	want(t, families, "pdpp_surface_pictures_total", map[string]float64{"": 2})
	want(t, families, "pdpp_surface_picture_bytes_total", map[string]float64{"": 1000})
	want(t, families, "pdpp_surface_inputs_total", map[string]float64{"": 1})
	want(t, families, "pdpp_surface_watched_seconds_total", map[string]float64{"": 90})
	want(t, families, "pdpp_pushes_total", map[string]float64{"ntfy delivered": 1, "ntfy other": 1})
}

func TestLeasesThatNobodyCountedAreAbsent(t *testing.T) {
	r := New(Config{})
	_, families := scrape(t, r)
	want(t, families, "pdpp_leases_held", map[string]float64{})
	r.Leases(1, time.Minute)
	r.Leases(0, 0)
	_, families = scrape(t, r)
	want(t, families, "pdpp_leases_held", map[string]float64{"": 0})
	want(t, families, "pdpp_lease_oldest_age_seconds", map[string]float64{})
}

func TestNilRecorderCountsNothing(t *testing.T) { record(nil) }

func TestLabelsAreClosed(t *testing.T) {
	const stray = "ada@example.org"
	r := New(Config{Connectors: []string{"acme"}, Verdicts: func(context.Context) ([]VerdictCount, error) {
		return []VerdictCount{{stray, stray, 2}}, nil
	}})
	r.RunEnded(Run{Connector: stray, Trigger: stray, Status: stray, Interval: time.Second})
	r.SliceCommitted(stray, 1)
	r.Jobs([]JobCount{{stray, stray, 1}})
	r.Pushed(stray, stray)
	text, families := scrape(t, r)
	if strings.Contains(text, stray) {
		t.Error("a value outside every set is shown")
	}
	want(t, families, "pdpp_runs_total", map[string]float64{"other other other": 1})
	want(t, families, "pdpp_connections", map[string]float64{"other other": 2})
	for name, f := range families {
		if !strings.HasPrefix(name, "pdpp_") {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				switch l.GetName() {
				case "connector", "trigger", "status", "queue", "state", "kind", "result", "tone", "channel", "version", "revision":
				default:
					t.Errorf("%s has the label %s", name, l.GetName())
				}
			}
		}
	}
}

func TestNamesFollowTheConventions(t *testing.T) {
	r := New(Config{Connectors: []string{"acme"}})
	record(r)
	text, _ := scrape(t, r)
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "pdpp_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}

func TestVerdictsAreAskedEvery15Seconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, fails := 0, false
		r := New(Config{Verdicts: func(context.Context) ([]VerdictCount, error) {
			asked++
			if fails {
				return nil, errors.New("the database is away")
			}
			return []VerdictCount{{"green", "calm", 3}, {"amber", "advisory", asked}}, nil
		}})
		check := func(after time.Duration, wantAsked int, wantCounts map[string]float64) {
			t.Helper()
			time.Sleep(after)
			_, families := scrape(t, r)
			want(t, families, "pdpp_connections", wantCounts)
			if asked != wantAsked {
				t.Errorf("asked %d times, want %d", asked, wantAsked)
			}
		}
		check(0, 1, map[string]float64{"calm green": 3, "advisory amber": 1})
		check(verdictAge-1, 1, map[string]float64{"calm green": 3, "advisory amber": 1})
		check(1, 2, map[string]float64{"calm green": 3, "advisory amber": 2})
		// Not counted is absent: neither zero nor what was true before.
		fails = true
		check(verdictAge, 3, map[string]float64{})
		check(verdictAge-1, 3, map[string]float64{})
		fails = false
		check(1, 4, map[string]float64{"calm green": 3, "advisory amber": 4})
	})
}
