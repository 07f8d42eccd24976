package status

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// retried is a keeper of a connection that failed four times alike after a success, and
// of another that failed in between.
func retried(t *testing.T) *keeper {
	k := newKeeper(plant(t, "scheduled-healthy", `{"connection": {"connection_id": "con_a"}}`))
	run := func(id, connection string, minutes int, failure string) api.Run {
		began := noon.Add(-time.Duration(minutes) * time.Minute)
		over := began.Add(2 * time.Minute)
		r := api.Run{ID: id, ConnectionID: connection, DisplayName: "Photobox", Status: "failed", Trigger: "scheduled",
			StartedAt: began, CompletedAt: &over, RecordsEmitted: 3,
			Failure: failure, FailureCode: "unreachable"}
		if failure == "" {
			r.Status, r.FailureCode = "succeeded", ""
		}
		return r
	}
	const unreached = "The provider could not be reached."
	k.runs = []api.Run{
		run("run_7", "con_a", 10, unreached), run("run_6", "con_b", 12, unreached), run("run_5", "con_a", 20, unreached),
		run("run_4", "con_a", 30, unreached), run("run_3", "con_a", 40, unreached),
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

// Neighbours that ended alike are one row with how many, from when to when and their sums;
// what ended otherwise and what belongs to another connection is a row of its own.
func TestEqualRunsAreOneRow(t *testing.T) {
	k := retried(t)
	for path, want := range map[string]string{
		"/runs":                          "run_7 run_6 run_2",
		"/runs?all=yes":                  "run_7 run_6 run_5 run_4 run_3 run_2 run_1",
		"/runs?connection=con_a&all=yes": "run_7 run_6 run_5 run_4 run_3 run_2 run_1",
		"/sources/con_a":                 "run_7 run_6 run_2",
	} {
		ids, texts := rows(page(t, serve(k), path))
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%s: rows %s, want %s", path, got, want)
		}
		if strings.Contains(path, "all") {
			continue
		}
		for _, want := range []string{"today 11:20 to 11:50 ",
			"4 runs, the same each time: stopped early, progress saved. The provider could not be reached.", "12", "8 min"} {
			if !strings.Contains(texts["run_7"], want) {
				t.Errorf("%s: the row does not say %q: %s", path, want, texts["run_7"])
			}
		}
		if !strings.Contains(texts["run_2"], "2 runs, all finished") {
			t.Errorf("%s: the row does not say how many finished: %s", path, texts["run_2"])
		}
		if strings.Contains(texts["run_6"], "each time") {
			t.Errorf("%s: one run of the other connection: %s", path, texts["run_6"])
		}
	}
	k.runs = k.runs[:5]
	for len(k.runs) < listed {
		k.runs = append(k.runs, k.runs[4])
	}
	if _, texts := rows(page(t, serve(k), "/runs")); !strings.Contains(texts["run_7"],
		"At least 99 runs, the same each time: stopped early") {
		t.Errorf("the list was cut: %s", texts["run_7"])
	}
}

// A streak is folded and has a line with a link for each of its runs. The strip above has a bar
// for each run and a text alternative.
func TestRunsOfAConnection(t *testing.T) {
	k := retried(t)
	k.runs[5].Status, k.runs[6].RecordsEmitted = "cancelled", 40
	under := api.Run{ID: "run_8", ConnectionID: "con_a", Status: running, StartedAt: noon.Add(-time.Minute)}
	nothing := k.runs[4]
	nothing.ID, nothing.RecordsEmitted, nothing.FailureCode, nothing.Failure = "run_0", 0, "lost", "The disk was full."
	k.runs = append(append([]api.Run{under}, k.runs...), nothing)
	shown := page(t, serve(k), "/sources/con_a")
	section := find(shown, "id", "runs")[0]
	folded := find(section, "id", "since-run_3")
	if len(folded) != 1 || folded[0].Data != "details" || len(find(folded[0], "href", "/runs/run_4")) != 1 {
		t.Errorf("the streak is not folded with a link to each run: %s", textOf(section))
	}
	if _, open := attr(folded[0], "open"); open {
		t.Error("the streak is open")
	}
	strip := find(shown, "class", "beats")
	if len(strip) != 1 {
		t.Fatal("no strip")
	}
	want := "The last 9 runs: 1 finished, 5 stopped early, 1 failed, 1 cancelled or not started, 1 under way"
	if got, _ := attr(strip[0], "aria-label"); got != want {
		t.Errorf("the strip says %q, want %q", got, want)
	}
	for class, n := range map[string]int{"done": 1, "early": 5, "fail": 1, "off": 1, "now": 1} {
		if got := len(find(strip[0], "class", class)); got != n {
			t.Errorf("%d bars of %s, want %d", got, class, n)
		}
	}
	if _, texts := rows(section); !strings.Contains(texts["run_0"], "Failed. The disk was full.") {
		t.Errorf("a run that saved nothing: %s", texts["run_0"])
	}
}
