package consoletest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/view"
)

// stuck is what a stalled device reports.
var stuck = &evidence.OutboxCounts{Pending: 11, DeadLetter: 3, Succeeded: 900, Total: 914,
	OldestPendingAt: ago(9 * time.Hour)}

func attic(status evidence.HeartbeatStatus, pending int64, counts *evidence.OutboxCounts) evidence.DeviceSource {
	return collector("src_attic", "Attic", status, pending, counts)
}

// orchard returns one connection of every kind that a page distinguishes.
func orchard() []evidence.Evidence {
	return []evidence.Evidence{
		healthy("con_healthy"), fresh("con_new"), pressed("con_pressed", 37, 4), pressed("con_other", 0, 4),
		device("con_stalled", attic(evidence.HeartbeatBlocked, 14, stuck)),
		device("con_two", attic(evidence.HeartbeatBlocked, 14, stuck),
			collector("src_shed", "Shed", evidence.HeartbeatBlocked, 2, stuck)),
		device("con_nameless", collector("src_x", "", evidence.HeartbeatBlocked, 14, stuck)),
		device("con_uncounted", attic(evidence.HeartbeatBlocked, 14, nil)),
		device("con_uploading", attic(evidence.HeartbeatHealthy, 8,
			&evidence.OutboxCounts{Pending: 8, Succeeded: 900, Total: 908})),
		device("con_drained", attic(evidence.HeartbeatHealthy, 0, &evidence.OutboxCounts{Succeeded: 900, Total: 900})),
		device("con_silent", evidence.DeviceSource{ID: "src_quiet", DeviceStatus: evidence.StatusActive,
			Status: evidence.StatusActive}),
	}
}

var stalledIDs = []string{"con_stalled", "con_two", "con_nameless", "con_uncounted"}

// row is the dashboard's text of a connection, without its name.
func (b *tab) row(id string) string { b.t.Helper(); return b.text("#row-" + id) }

func TestDashboardStatements(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"CH-09", "CH-09.1", "CH-09.2", "CH-10", "CH-10.1", "CH-13", "CH-13.1", "CH-13.2",
		"CH-13.3", "CH-20.2", "CH-27.1"} {
		t.Attr("spec", id)
	}
	all := orchard()
	b := open(t, plant(t, evidence.Runtime{}, all...))
	b.visit("/sources")
	// Counts name their population, and connections without data are one of their own.
	if got := b.text("[data-count=registered]"); got != fmt.Sprint(len(all)) {
		t.Errorf("registered: %q", got)
	}
	if got := b.text("[data-count=populations]"); !strings.Contains(got, "10 with things") ||
		!strings.Contains(got, "1 with none yet") {
		t.Errorf("populations: %q", got)
	}
	// What is degraded or stalled is in the summary.
	degraded := len(b.all("[data-connection][data-tone=amber]"))
	if got := b.text("[data-count-tone=amber]"); degraded == 0 || !strings.HasPrefix(got, fmt.Sprint(degraded)) {
		t.Errorf("%d rows are amber, the strip says %q", degraded, got)
	}
	if got := b.text("[data-count=visible]"); !strings.Contains(got, "4 with uploads stalled") {
		t.Errorf("the strip says of stalled devices: %q", got)
	}
	if text := strings.ToLower(b.text("main")); strings.Contains(text, "scheduler") {
		t.Error("a stalled device reads as a fault of the scheduler")
	}
	// Only stalled rows show the amount of stuck work in their guidance, with a link to the
	// remedy.
	for _, e := range all {
		id := e.Connection.ID
		cue := fmt.Sprintf("#row-%s [data-cue=stuck]", id)
		wants := id == "con_stalled" || id == "con_nameless" || id == "con_two"
		if b.has(cue) != wants {
			t.Errorf("%s: scale shown: %v", id, !wants)
			continue
		}
		if !wants {
			continue
		}
		text := b.text(cue)
		if strings.Contains(text, "900") || strings.Contains(text, "914") ||
			!regexp.MustCompile(`\d+ pending, \d+ failed uploads`).MatchString(text) {
			t.Errorf("%s: %q", id, text)
		}
		if href := eval[string](b, fmt.Sprintf("document.querySelector(%q).querySelector('a').getAttribute('href')",
			cue)); !strings.HasPrefix(href, "/sources/"+id) {
			t.Errorf("%s: the scale leads to %q", id, href)
		}
	}
	// What works is quiet: no number of gaps, no cue.
	for _, id := range []string{"con_healthy", "con_drained"} {
		if text := b.row(id); regexp.MustCompile(`\b(23|120|900|gap|backlog)\b`).MatchString(text) {
			t.Errorf("%s says %q", id, text)
		}
		if b.has(fmt.Sprintf("#row-%s [data-cue]", id)) {
			t.Errorf("%s has a cue", id)
		}
	}
	b.shoot("orchard")
	b.quiet()
}

func TestDeviceStatements(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"CH-08", "CH-08.1", "CH-08.2", "CH-08.3", "CH-12", "CH-12.1", "CH-12.2", "CH-23.9",
		"CH-23.10", "CH-31", "CH-31.1", "CH-31.2"} {
		t.Attr("spec", id)
	}
	all := orchard()
	base := plant(t, evidence.Runtime{}, all...)
	b := open(t, base)
	for _, e := range all {
		id := e.Connection.ID
		b.visit("/sources/" + id)
		recovers := b.has("#recover")
		if wants := slices.Contains(stalledIDs, id); recovers != wants {
			t.Errorf("%s: a remedy is shown: %v", id, recovers)
		}
		if !recovers {
			attention := eval[string](b, `document.querySelector("main").innerText`)
			if strings.Contains(attention, "pdpp-local-collector") ||
				regexp.MustCompile(`\b\d+ (pending|failed uploads)`).MatchString(attention) && id != "con_uploading" {
				t.Errorf("%s shows commands or counts of uploads", id)
			}
			continue
		}
		if b.has("[data-cue=upload]") {
			t.Errorf("%s: a passive summary stands beside the remedy", id)
		}
		var c struct{ view.Connection }
		fetchJSON(t, base+"/_ref/connections/"+id, &c)
		if got := b.text("[data-recovery-remedy]"); got != c.Recovery.Remedy || got == "" {
			t.Errorf("%s: remedy %q, the condition says %q", id, got, c.Recovery.Remedy)
		}
	}
	b.visit("/sources/con_stalled")
	text := b.text("#recover")
	if !strings.Contains(text, "Attic") {
		t.Errorf("the host is not named: %q", text)
	}
	commands, purposes := b.all("#recover [data-command] code"), b.all("#recover [data-command] [data-purpose]")
	want := []string{"pdpp-local-collector recover --source-instance-id src_attic",
		"pdpp-local-collector recover --source-instance-id src_attic --apply"}
	if fmt.Sprint(commands) != fmt.Sprint(want) || len(purposes) != 2 || purposes[0] == "" || purposes[1] == "" {
		t.Errorf("commands %q for %q", commands, purposes)
	}
	for _, command := range commands {
		if regexp.MustCompile(`https?:|token|Bearer|con_stalled|(^|\s)[/~]`).MatchString(command) {
			t.Errorf("the command holds what it must not: %q", command)
		}
	}
	if scale := b.text("[data-recovery-scale]"); !strings.Contains(scale, "11 pending") ||
		!strings.Contains(scale, "3 failed uploads") || strings.Contains(scale, "9") {
		t.Errorf("scale %q", scale)
	}
	b.visit("/sources/con_nameless")
	if text := b.text("#recover"); !strings.Contains(text, "the host that holds the data") {
		t.Errorf("an unnamed host: %q", text)
	}
	b.visit("/sources/con_two")
	if !b.has("#recover [data-unavailable]") || b.has("#recover [data-command]") || b.has("#recover button[data-copy]") {
		t.Error("with two collectors a command can be copied")
	}
	b.shoot("device-unavailable")
	b.visit("/sources/con_uploading")
	upload := b.text("[data-cue=upload]")
	if !strings.Contains(upload, "8") || !strings.Contains(upload, "Attic") || !b.has("[data-cue=upload] time") {
		t.Errorf("upload summary %q", upload)
	}
	b.shoot("device-uploading")
	b.quiet()
}

func TestCatchUpStatements(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"CH-20", "CH-20.1", "CH-20.2", "CH-20.3", "CH-20.4"} {
		t.Attr("spec", id)
	}
	all := orchard()
	unmeasured := pressed("con_unmeasured", 5, 0)
	unmeasured.Gaps = nil
	base := plant(t, evidence.Runtime{}, append(all, unmeasured)...)
	b := open(t, base)
	for _, e := range append(all, unmeasured) {
		id := e.Connection.ID
		b.visit("/sources/" + id)
		if has := b.has("[data-cue=catch-up]"); has != (id == "con_pressed") {
			t.Errorf("%s: catch-up cue: %v", id, has)
		}
	}
	b.visit("/sources/con_pressed")
	cue := b.text("[data-cue=catch-up]")
	if !strings.Contains(cue, "37") || !strings.Contains(cue, "23") || strings.Contains(cue, "source_pressure") ||
		strings.Contains(strings.ToLower(cue), "orchard") {
		t.Errorf("cue %q", cue)
	}
	var c struct{ view.Connection }
	fetchJSON(t, base+"/_ref/connections/con_pressed", &c)
	allowed := map[string]bool{fmt.Sprint(c.CatchUp.Pending): true, fmt.Sprint(*c.CatchUp.Recovered): true,
		fmt.Sprint(c.CatchUp.OtherPending): true}
	for _, number := range regexp.MustCompile(`\d+`).FindAllString(cue, -1) {
		if !allowed[number] {
			t.Errorf("the cue holds %s, which is not in the backlog: %q", number, cue)
		}
	}
	b.visit("/sources/con_other")
	eval[bool](b, `(document.querySelectorAll("details").forEach(d => d.open = true), true)`)
	if page := strings.ToLower(b.text("main")); strings.Contains(page, "caught up") ||
		!strings.Contains(b.text("[data-backlog-other]"), "4") {
		t.Errorf("other gaps are pending: %q", b.text("[data-backlog-other]"))
	}
	b.quiet()
}

// The row, the header and the JSON of every connection agree, field by field.
func TestSurfacesAgree(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"CH-06", "CH-21", "CH-21.1"} {
		t.Attr("spec", id)
	}
	all := orchard()
	base := plant(t, evidence.Runtime{}, all...)
	b := open(t, base)
	for _, e := range all {
		id := e.Connection.ID
		var c struct{ view.Connection }
		fetchJSON(t, base+"/_ref/connections/"+id, &c)
		b.visit("/sources")
		compare(t, b, "dashboard", "#row-"+id, &c.Connection)
		b.visit("/sources/" + id)
		compare(t, b, "header", "#verdict", &c.Connection)
	}
}

// compare holds a place on a page against the verdict.
func compare(t *testing.T, b *tab, where, css string, c *view.Connection) {
	t.Helper()
	v := &c.Verdict
	at := func(attribute string) string {
		return eval[string](b, fmt.Sprintf("document.querySelector(%q).getAttribute(%q) ?? ''", css, attribute))
	}
	if at("data-tone") != string(v.Pill.Tone) || at("data-channel") != string(v.Channel) {
		t.Errorf("%s of %s: %s, %s; the verdict says %s, %s", where, c.ID, at("data-tone"), at("data-channel"), v.Pill.Tone,
			v.Channel)
	}
	if got := b.all(css + " .pill"); len(got) != 1 || got[0] != v.Pill.Label {
		t.Errorf("%s of %s: pill %q, the verdict says %q", where, c.ID, got, v.Pill.Label)
	}
	if got := b.text(css + " [data-sentence]"); got != v.ForwardStatement {
		t.Errorf("%s of %s: %q, the verdict says %q", where, c.ID, got, v.ForwardStatement)
	}
	if got := b.all(css + " [data-note]"); len(v.Annotations) > 0 && (len(got) == 0 || got[0] != v.Annotations[0].Text) {
		t.Errorf("%s of %s: notes %q, the verdict says %q", where, c.ID, got, v.Annotations[0].Text)
	}
	if b.has(css+" [data-needs]") != (v.Channel == "attention") {
		t.Errorf("%s of %s: the mark of attention does not follow the channel %s", where, c.ID, v.Channel)
	}
	if where != "dashboard" {
		lines := []string{v.Outline.Happened, v.Outline.Means, v.Outline.Next}
		lines = slices.DeleteFunc(lines, func(l string) bool { return l == "" })
		if got := b.all(css + " .because dd"); !slices.Equal(got, lines) {
			t.Errorf("%s of %s: lines %q, the verdict says %q", where, c.ID, got, lines)
		}
		return
	}
	primary := b.all(css + " [data-action]")
	owners := len(v.RequiredActions) > 0 && v.RequiredActions[0].Audience == "owner"
	if owners != (len(primary) == 1) || owners && !strings.HasPrefix(primary[0], v.RequiredActions[0].CTA) {
		t.Errorf("%s of %s: action %q, the verdict says %+v", where, c.ID, primary, v.RequiredActions)
	}
}

// A fault of the runtime is one panel; every row stays calm.
func TestRuntimeFault(t *testing.T) {
	t.Parallel()
	runtime := evidence.Runtime{Components: []evidence.Component{{Name: "scheduler", Status: evidence.ProbeFailed,
		Reason: "stopped", At: *ago(10 * time.Minute)}}}
	b := open(t, plant(t, runtime, orchard()...))
	b.visit("/sources")
	if !b.has(".fault [data-runtime-sentence]") {
		t.Error("no panel says what is at fault")
	}
	if got := b.all("[data-connection]:not([data-channel=calm])"); len(got) > 0 {
		t.Errorf("%d rows ask for something", len(got))
	}
	b.shoot("runtime-fault")
	b.quiet()
}

func fetchJSON(t *testing.T, url string, into any) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %d, %v", url, resp.StatusCode, err)
	}
}
