package serve

import (
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/health"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service"
	"github.com/pdpp-go/pdpp/internal/schedule/scheduler"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/view"
	"github.com/pdpp-go/pdpp/internal/web/auth"
)

// refusedLines is what a connector writes after its provider refused one item.
const refusedLines = `printf '%s\n' '{"type":"DETAIL_GAP","stream":"beds","record_key":"b1",` +
	`"reason":"rate_limited","status":"pending","retryable":true,"detail_locator":{"kind":"bed"},` +
	`"reference_only":true}' '{"type":"STATE","stream":"beds","cursor":{"n":1}}'` + "\n"

// failing is a connector that writes some lines and fails with the code and message.
func failing(lines, code, message string) string {
	return "#!/bin/sh\nread -r start\n" + lines +
		`printf '%s\n' '{"type":"DONE","status":"failed","records_emitted":0,"error":{"code":"` + code + `","message":"` +
		message + `"}}'` + "\nexit 1\n"
}

const networkOnly = `{"bindings":{"network":{"required":true}}}`

// words returns everything that an owner reads of a connection's verdict.
func words(c view.Connection) string {
	out := []string{c.Verdict.ForwardStatement, c.Verdict.Outline.Happened, c.Verdict.Outline.Means,
		c.Verdict.Outline.Next}
	for _, a := range c.Verdict.RequiredActions {
		out = append(out, a.CTA)
	}
	for i := range c.Health.Conditions {
		out = append(out, c.Health.Conditions[i].Message)
	}
	return strings.Join(out, "\n")
}

// A cool-down that holds the next scheduled run back is shown with its end, whether the run before it
// succeeded, failed, or ran before there was a schedule. Without a schedule nothing is promised.
func TestCooldownIsShown(t *testing.T) {
	t.Attr("spec", "CH-04.2")
	t.Attr("spec", "CH-25.3")
	onBoth(t, func(g *ground) {
		for id, script := range map[string]string{
			"succeeded": saying(refusedLines), "failed": failing(refusedLines, "lists_broken", "no"),
			"later": saying(refusedLines), "unscheduled": saying(refusedLines),
		} {
			g.install(id, needing(id, networkOnly), script)
			g.connect(id, id)
			if id != "later" {
				g.schedule(id, time.Hour)
			}
		}
	}, func(t *testing.T, g *ground) {
		g.until("a worker is there", func() bool {
			return scheduler.RunNow(t.Context(), g.st, store.RunRequest{ConnectionID: "later", Trigger: store.TriggerManual,
				RequestedAt: time.Now()}) == nil
		})
		for _, id := range []string{"succeeded", "failed", "later", "unscheduled"} {
			g.until(id+" has ended", func() bool { return g.seen(id).LastRun != nil })
		}
		g.schedule("later", time.Hour)
		g.must(g.st.DeleteSchedule(t.Context(), "unscheduled"))
		for _, id := range []string{"succeeded", "failed", "later"} {
			c := g.seen(id)
			retry, next := c.Health.Condition(health.RetryPolicyClear), c.Health.NextAttemptAt
			if !retry.Fails() || retry.Reason != health.ReasonPressure || retry.ExpiresAt == nil || next == nil ||
				!next.Equal(*retry.ExpiresAt) {
				t.Errorf("%s: %s %q until %v, and the next attempt is at %v", id, retry.Reason, retry.Message, retry.ExpiresAt,
					next)
			}
		}
		c := g.seen("unscheduled")
		if text := words(c); strings.Contains(text, "utomatically") &&
			!strings.Contains(text, "Nothing runs automatically") ||
			strings.Contains(text, "continues automatically") || c.Health.NextAttemptAt != nil {
			t.Errorf("without a schedule: next attempt %v\n%s", c.Health.NextAttemptAt, text)
		}
		if a := c.Verdict.RequiredActions; len(a) != 1 || a[0].Audience != "owner" {
			t.Errorf("without a schedule: %+v", a)
		}
	})
}

// bed is the line of one record.
func bed(id string) string {
	return `printf '%s\n' '{"type":"RECORD","stream":"beds","key":"` + id + `","data":{"id":"` + id +
		`"},"emitted_at":"2026-01-02T03:04:05Z"}'` + "\n"
}

// Connectors of others name their failures in words of their own. What the owner is asked for follows
// from what they mean: a new credential, patience, something to install, or nothing.
func TestForeignFailures(t *testing.T) {
	skip := func(reason string) string {
		return `printf '%s\n' '{"type":"SKIP_RESULT","stream":"beds","reason":"` + reason + `"}'` + "\n"
	}
	many := ""
	for i := range 60 {
		many += bed("b" + strconv.Itoa(i))
	}
	keyed := func(key, data string) string {
		return `printf '%s\n' '{"type":"RECORD","stream":"beds","key":"` + key + `","data":` + data +
			`,"emitted_at":"2026-01-02T03:04:05Z"}'` + "\n"
	}
	b1 := keyed("x", `{"id":"b1"}`)
	state := `printf '%s\n' '{"type":"STATE","stream":"beds","cursor":{"n":1}}'` + "\n"
	dies := func(stderr string) string {
		return "#!/bin/sh\nread -r start\nprintf '%s\\n' \"" + stderr + "\" >&2\nexit 1\n"
	}
	cases := map[string]struct {
		script     string
		credential bool
		pill       string // nothing: not compared
		contains   string
		without    string
	}{
		"bare_403": {script: failing("", "http_403", "GET /feed: 403 Forbidden"), contains: "Retry now",
			without: "econnect"},
		"bare_403_stored": {script: failing("", "http_403", "GET /me: 403 Forbidden"), credential: true,
			contains: "Retry now", without: "econnect"},
		"said_403_stored": {script: failing("", "http_403", "403: the access token was revoked"), credential: true,
			contains: "Reconnect"},
		"said_403": {script: failing("", "http_403", "403: the access token was revoked"), contains: "Retry now",
			without: "econnect"},
		"auth_failed": {script: failing("", "", "oura_auth_failed"), credential: true, contains: "Reconnect",
			without: "Retry now"},
		"rate_limited": {script: failing("", "", "notion_rate_limited"), contains: "pause", without: "Retry now"},
		"photos_not_found": {script: saying(bed("b1") + skip("photos_not_found") + state), pill: "Healthy",
			without: "code fix"},
		"archive_not_found": {script: saying(skip("archive_not_found")), pill: "Healthy",
			contains: "The source holds none of this", without: "code fix"},
		"node_module": {script: dies("Error [ERR_UNKNOWN_BUILTIN_MODULE]: No such built-in module: node:sqlite"),
			contains: "node:sqlite", without: "Retry now"},
		"node_package": {script: dies("Error: Cannot find module 'left-pad'"), contains: "left-pad",
			without: "Retry now"},
		"python_module": {script: dies("ModuleNotFoundError: No module named 'requests'"), contains: "requests",
			without: "Retry now"},
		"folder": {script: dies("Error: ENOENT: no such file or directory, scandir '/home/ada/imports/apple_photos'"),
			contains: "apple_photos", without: "Retry now"},
		"one_rejected": {script: saying(many + keyed("7", `{"id":7}`) + state), pill: "Degraded",
			contains: "Update the connector", without: "continues automatically"},
		"other_keys": {script: saying(b1 + keyed("y", `{"name":"b2"}`) + state), pill: "Healthy",
			without: "Update the connector"},
		"shared_key": {script: saying(b1 + b1 + keyed("x", `{"id":"b2"}`) + state), pill: "Degraded",
			contains: "Update the connector"},
	}
	onBoth(t, func(g *ground) {
		for id, c := range cases {
			m := needing(id, networkOnly)
			if c.credential {
				m = strings.Replace(gardenManifest, `"connector_id":"garden"`, `"connector_id":"`+id+`"`, 1)
			}
			g.install(id, m, c.script)
			g.connect(id, id)
			if c.credential {
				g.credential(id, id, map[string]string{"GARDEN_TOKEN": "trowel"})
			}
			g.schedule(id, time.Hour)
		}
	}, func(t *testing.T, g *ground) {
		for id, want := range cases {
			g.until(id+" has ended", func() bool { return g.seen(id).LastRun != nil })
			c := g.seen(id)
			text := words(c)
			for _, row := range c.Verdict.Streams {
				text += "\n" + row.Statement
			}
			if want.pill != "" && c.Verdict.Pill.Label != want.pill || !strings.Contains(text, want.contains) ||
				want.without != "" && strings.Contains(text, want.without) {
				t.Errorf("%s: %s, want %q %q and not %q in\n%s", id, c.Verdict.Pill.Label, want.pill, want.contains, want.without,
					text)
			}
			if strings.HasPrefix(id, "bare_403") && c.Health.NextAttemptAt == nil {
				t.Errorf("%s: one 403 holds every later run", id)
			}
		}
	})
}

// After one stream fails, a stream that the run did not get to reads so: nothing of it is known to be missing.
func TestStreamsNotReached(t *testing.T) {
	two := twoStreams(needing("rows", networkOnly))
	again := `case "$start" in *'"n":1'*)` + "\n" +
		`printf '%s\n' '{"type":"SKIP_RESULT","stream":"paths","reason":"lists_timeout"}' '{"type":"DONE",` +
		`"status":"failed","records_emitted":0,"error":{"code":"lists_broken","message":"no"}}'` + "\nexit 1;;\nesac\n"
	path := `printf '%s\n' '{"type":"RECORD","stream":"paths","key":"p1","data":{"id":"p1"},` +
		`"emitted_at":"2026-01-02T03:04:05Z"}' '{"type":"STATE","stream":"paths","cursor":{"n":1}}'` + "\n"
	onBoth(t, func(g *ground) {
		g.install("rows", two, saying(again+path+bed("b1")+`printf '%s\n' '{"type":"STATE","stream":"beds",`+
			`"cursor":{"n":1}}'`+"\n"))
		g.connect("rows", "rows")
		g.schedule("rows", time.Hour)
	}, func(t *testing.T, g *ground) {
		g.until("the first run has succeeded", func() bool {
			c := g.seen("rows")
			return c.LastRun != nil &&
				c.LastRun.Status == "succeeded"
		})
		g.must(scheduler.RunNow(t.Context(), g.st, store.RunRequest{ConnectionID: "rows", Trigger: store.TriggerManual,
			RequestedAt: time.Now()}))
		g.until("the second run has failed", func() bool { return g.seen("rows").LastRun.Status == "failed" })
		reports := map[string]string{}
		for _, row := range g.seen("rows").Verdict.Streams {
			reports[row.StreamID] = row.Statement
		}
		if !strings.HasPrefix(reports["paths"], "Some items are missing") ||
			reports["beds"] != "The last run stopped before it got to this." {
			t.Errorf("%q", reports)
		}
	})
}

// twoStreams is the garden's manifest with a second required stream.
func twoStreams(m string) string {
	return strings.Replace(m, `"streams":[`,
		`"streams":[{"name":"paths","semantics":"mutable_state","primary_key":"id","required":true,`+
			`"schema":{"type":"object","properties":{"id":{"type":"string"}}}},`, 1)
}

// stateOf is the line of a cursor.
func stateOf(stream string) string {
	return `printf '%s\n' '{"type":"STATE","stream":"` + stream + `","cursor":{"n":1}}'` + "\n"
}

// The run that confirms a new credential recovers one stream and finds another that needs a change of code: the
// recovered one asks for nothing more, the other keeps its own action.
func TestPartialRecoveryOfAStoredRun(t *testing.T) {
	t.Attr("spec", "CH-26.3")
	onBoth(t, func(g *ground) {
		refuse := `if [ "$GARDEN_TOKEN" != trowel ]; then printf '%s\n' '{"type":"DONE","status":"failed",` +
			`"records_emitted":0,"error":{"code":"auth_failure","message":"the token was refused","retryable":false}}'; ` +
			`exit 1; fi` + "\n"
		skip := `printf '%s\n' '{"type":"SKIP_RESULT","stream":"paths","reason":"parser_broken",` +
			`"recovery_hint":{"action":"retry_on_connector_upgrade"}}'` + "\n"
		g.install("garden", twoStreams(gardenManifest), saying(refuse+bed("b1")+stateOf("beds")+skip))
		g.connect("rows", "garden")
		g.credential("rows", "garden", map[string]string{"GARDEN_TOKEN": "spade"})
		g.schedule("rows", time.Hour)
	}, func(t *testing.T, g *ground) {
		asked := func() string {
			var out []string
			for _, a := range g.seen("rows").Verdict.RequiredActions {
				out = append(out, string(a.Kind)+" "+strings.Join(a.Affects, " "))
			}
			return strings.Join(out, ", ")
		}
		g.until("the credential is asked for", func() bool {
			open, err := g.st.Attention(t.Context(), store.AttentionQuery{})
			g.must(err)
			return len(open) == 1 && strings.HasPrefix(asked(), "reauth")
		})
		g.credential("rows", "garden", map[string]string{"GARDEN_TOKEN": "trowel"})
		g.until("the run that confirms it has ended",
			func() bool { c := g.seen("rows"); return c.LastRun.Status == "succeeded" })
		if got := asked(); got != "code_fix paths" {
			t.Errorf("asked for %s", got)
		}
		for _, row := range g.seen("rows").Verdict.Streams {
			if good := row.Coverage == health.Complete; good != (row.StreamID == "beds") {
				t.Errorf("%s is %s", row.StreamID, row.Coverage)
			}
		}
		if tone := g.seen("rows").Verdict.Pill.Tone; tone == "green" {
			t.Error("it is green, and a stream is missing")
		}
	})
}

// Items without retries left are counted apart from those of the source's pressure, nothing is called caught
// up while they wait, and their words are neither those of a cap nor of a busy source.
func TestUsedUpRetriesOfAStoredRun(t *testing.T) {
	t.Attr("spec", "CH-18.6")
	t.Attr("spec", "RT-18.2")
	gap := func(key, more string) string {
		return `printf '%s\n' '{"type":"DETAIL_GAP","stream":"beds","record_key":"` + key +
			`","reason":"retry_exhausted","status":"pending","retryable":true,"detail_locator":{"kind":"bed"},` +
			`"reference_only":true` + more + `}'` + "\n"
	}
	const more = 1200 // beyond any page in which gaps are read
	var guard *auth.Auth
	loop := "i=0\nwhile [ $i -lt " + strconv.Itoa(more) + " ]; do i=$((i+1))\n" +
		strings.Replace(gap("KEY", ""), `"KEY"`, `"m'$i'"`, 1) + "done\n"
	onBoth(t, func(g *ground) {
		g.install("spent", needing("spent", networkOnly),
			saying(gap("b1", "")+gap("b2", "")+gap("b3", `,"last_error":{"class":"run_cap_deferred"}`)+stateOf("beds")))
		g.install("many", needing("many", networkOnly), saying(loop+stateOf("beds")))
		for _, id := range []string{"spent", "many"} {
			g.connect(id, id)
			g.schedule(id, time.Hour)
		}
		guard = g.listen()
	}, func(t *testing.T, g *ground) {
		g.until("it has ended", func() bool { return g.seen("spent").LastRun != nil })
		c := g.seen("spent")
		if b := c.Health.Backlog; b == nil || b.Pending != 0 || b.PendingOther != 3 || c.CatchUp != nil ||
			strings.Contains(strings.ToLower(words(c)), "caught up") {
			t.Errorf("backlog %+v, catching up %+v", c.Health.Backlog, c.CatchUp)
		}
		// Gaps are counted where they are stored, without a bound on the read: the number is exact, and no page calls it
		// a floor.
		g.until("many has succeeded", func() bool { // on a slow machine a first attempt may lose its lease
			run := g.seen("many").LastRun
			return run != nil && run.Status == "succeeded"
		})
		c = g.seen("many")
		if b := c.Health.Backlog; b == nil || b.Pending != 0 || b.PendingOther != more || b.PendingOtherIsFloor ||
			c.CatchUp != nil {
			t.Errorf("backlog of many %+v, catching up %+v", c.Health.Backlog, c.CatchUp)
		}
		read := g.ownerPages(guard)
		for id, count := range map[string]string{"spent": "3", "many": "1,200"} {
			line := count + " other details are still open. pace is not the reason."
			for _, path := range []string{"/sources", "/sources/" + id, "/sources/" + id + "/missing"} {
				page := strings.ToLower(read(path))
				if strings.Contains(page, "caught up") || strings.Contains(page, "at least "+line) {
					t.Errorf("%s calls the missing items caught up, or a count a floor", path)
				}
				if strings.HasSuffix(path, id) && !strings.Contains(page, line) {
					t.Errorf("%s has no %q", path, line)
				}
			}
		}
		owner := service.New(service.Config{Store: g.st, Connectors: g.config.Connectors, Now: time.Now})
		page, err := owner.Gaps(t.Context(), api.GapQuery{ConnectionID: "spent"})
		g.must(err)
		reportedBy := map[string]string{}
		for _, one := range page.Gaps {
			reportedBy[one.RecordKey] = one.Text
		}
		if reportedBy["b1"] == reportedBy["b3"] || !strings.Contains(reportedBy["b1"], "retries") ||
			strings.Contains(reportedBy["b1"], "busy") ||
			!strings.Contains(reportedBy["b3"], "limit you set") {
			t.Errorf("%q", reportedBy)
		}
	})
}

// A surface shows what follows from the facts of now. The newest run succeeded, and its credential was refused since.
func TestSurfaceShowsTheProjection(t *testing.T) {
	t.Attr("spec", "CH-01.2")
	onBoth(t, func(g *ground) {
		g.install("garden", gardenManifest, gardenConnector)
		g.connect("rows", "garden")
		g.credential("rows", "garden", map[string]string{"GARDEN_TOKEN": "trowel"})
		g.schedule("rows", time.Hour)
	}, func(t *testing.T, g *ground) {
		owner := service.New(service.Config{Store: g.st, Connectors: g.config.Connectors, Now: time.Now})
		shown := func() view.Connection {
			d, err := owner.Connection(t.Context(), "rows")
			g.must(err)
			return d.Connection
		}
		g.until("it is healthy", func() bool { return shown().Verdict.Pill.Tone == "green" })
		before := shown().LastRun
		kept, err := g.st.Credential(t.Context(), "rows")
		g.must(err)
		g.must(g.st.RejectCredential(t.Context(), "rows", "auth_failure", kept.CapturedAt, time.Now()))
		c := shown()
		if c.LastRun == nil || c.LastRun.ID != before.ID || c.LastRun.Status != "succeeded" ||
			c.Health.State != health.Blocked || c.Verdict.RequiredActions[0].Kind != "reauth" {
			t.Errorf("run %+v, %s, %+v", c.LastRun, c.Health.State, c.Verdict.RequiredActions)
		}
		if !reflect.DeepEqual(c.Verdict.Pill, g.seen("rows").Verdict.Pill) || words(c) != words(g.seen("rows")) {
			t.Errorf("the surface says\n%s\nand the projection\n%s", words(c), words(g.seen("rows")))
		}
	})
}
