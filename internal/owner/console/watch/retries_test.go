package watch

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"pdpp/internal/owner/api"
)

// retried is a keeper of a connection that failed four times alike after a success, and
// of another that failed in between.
func retried(t *testing.T) *keeper {
	k := newKeeper(plant(t, "scheduled-healthy", `{"connection": {"connection_id": "con_a"}}`))
	run := func(id, connection string, minutes int, failure string) api.Run {
		began := noon.Add(-time.Duration(minutes) * time.Minute)
		over := began.Add(2 * time.Minute)
		r := api.Run{ID: id, ConnectionID: connection, DisplayName: "Photobox", Status: "failed", Trigger: "scheduled", StartedAt: began, CompletedAt: &over, RecordsEmitted: 3,
			Failure: failure, FailureCode: "unreachable"}
		if failure == "" {
			r.Status, r.FailureCode = "succeeded", ""
		}
		return r
	}
	const unreached = "The provider could not be reached."
	k.runs = []api.Run{
		run("run_7", "con_a", 10, unreached), run("run_6", "con_b", 12, unreached), run("run_5", "con_a", 20, unreached), run("run_4", "con_a", 30, unreached), run("run_3", "con_a", 40, unreached),
		run("run_2", "con_a", 50, ""), run("run_1", "con_a", 60, ""),
	}
	return k
}

func rows(shown *html.Node) (ids []string, texts map[string]string) {
	texts = map[string]string{}
	for _, row := range find(shown, "data-run", "") {
		id, _ := attr(row, "data-run")
		ids, texts[id] = append(ids, id), textOf(row)
	}
	return ids, texts
}

// Retries that failed alike are one row with how often and from when to when; what ended
// otherwise, what succeeded and what belongs to another connection is a row of its own.
func TestRetriesAreOneRow(t *testing.T) {
	k := retried(t)
	for path, want := range map[string]string{
		"/runs":                          "run_7 run_6 run_2 run_1",
		"/runs?all=yes":                  "run_7 run_6 run_5 run_4 run_3 run_2 run_1",
		"/runs?connection=con_a&all=yes": "run_7 run_6 run_5 run_4 run_3 run_2 run_1",
		"/connections/con_a":             "run_7 run_6 run_2 run_1",
	} {
		ids, texts := rows(page(t, serve(k), path))
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%s: rows %s, want %s", path, got, want)
		}
		if strings.Contains(path, "all") {
			continue
		}
		for _, want := range []string{"today 11:20 to 11:50 ", "Stopped early 4 times, progress saved. The provider could not be reached.", "12", "8 min"} {
			if !strings.Contains(texts["run_7"], want) {
				t.Errorf("%s: the row does not say %q: %s", path, want, texts["run_7"])
			}
		}
		if strings.Contains(texts["run_6"], "times") {
			t.Errorf("%s: one run of the other connection: %s", path, texts["run_6"])
		}
	}
	k.runs = k.runs[:5]
	for len(k.runs) < listed {
		k.runs = append(k.runs, k.runs[4])
	}
	if _, texts := rows(page(t, serve(k), "/runs")); !strings.Contains(texts["run_7"], "Stopped early at least 99 times") {
		t.Errorf("the list was cut: %s", texts["run_7"])
	}
}
