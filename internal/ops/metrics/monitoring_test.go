package metrics

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
)

// queries returns the queries of the dashboard and of the alert rules that are shipped.
func queries(t *testing.T) map[string]string {
	t.Helper()
	read := func(name string) []byte {
		text, err := os.ReadFile("../../../packaging/monitoring/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(read("grafana-dashboard.json"), &dashboard); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			all[p.Title] += target.Expr + "\n"
		}
	}
	for _, rule := range regexp.MustCompile(`- alert: (\w+)\n +expr: (.+)\n`).FindAllStringSubmatch(
		string(read("alerts.yml")), -1) {
		all[rule[1]] = rule[2]
	}
	return all
}

var (
	metricName  = regexp.MustCompile(`\b(?:pdpp|go|process)_[a-z_]+`)
	labelValue  = regexp.MustCompile(`([a-z_]+)\{([a-z]+)="([^"]*)"\}`)
	groupLabels = regexp.MustCompile(`by \(([^)]*)\)`)
)

// TestMonitoringUsesExportedMetrics checks that every metric, label and label value that the dashboard and the alert
// rules name is one that the program exports.
func TestMonitoringUsesExportedMetrics(t *testing.T) {
	r := New(Config{Connectors: []string{"acme"}, Queues: []string{"network"},
		Verdicts: func(context.Context) ([]VerdictCount, error) { return []VerdictCount{{"green", "calm", 1}}, nil }})
	record(r)
	_, families := scrape(t, r)
	sets := map[string]closedSet{"channel": channels, "tone": tones, "status": statuses, "state": jobStates,
		"result": pushResults, "kind": pushKinds}
	all := queries(t)
	if len(all) < 20 {
		t.Fatalf("only %d queries: %v", len(all), slices.Sorted(maps.Keys(all)))
	}
	for of, query := range all {
		labels := map[string]bool{"le": true}
		for _, name := range metricName.FindAllString(query, -1) {
			f := family(families, name)
			if f == nil {
				t.Errorf("%s: the program exports no %s", of, name)
				continue
			}
			for _, m := range f.GetMetric() {
				for _, l := range m.GetLabel() {
					labels[l.GetName()] = true
				}
			}
		}
		for _, by := range groupLabels.FindAllStringSubmatch(query, -1) {
			for label := range strings.SplitSeq(by[1], ", ") {
				if !labels[label] {
					t.Errorf("%s: its metrics have no label %s", of, label)
				}
			}
		}
		for _, v := range labelValue.FindAllStringSubmatch(query, -1) {
			if set := sets[v[2]]; v[2] != "job" && (set == nil || !set[v[3]] || !labels[v[2]]) {
				t.Errorf("%s: %s never has the %s %q", of, v[1], v[2], v[3])
			}
		}
	}
}

// family returns the family of a metric, or of the parts of a histogram.
func family(families map[string]*dto.MetricFamily, name string) *dto.MetricFamily {
	if f := families[name]; f != nil {
		return f
	}
	for _, part := range []string{"_bucket", "_sum", "_count"} {
		if whole, cut := strings.CutSuffix(name, part); cut && families[whole].GetType() == dto.MetricType_HISTOGRAM {
			return families[whole]
		}
	}
	return nil
}
