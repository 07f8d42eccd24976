package serve

import (
	"strings"
	"testing"
	"time"

	"pdpp/internal/judge/health"
	"pdpp/internal/keep/store"
	"pdpp/internal/schedule/scheduler"
	"pdpp/internal/view"
)

// refusedLines is what a connector writes whose provider refused one item.
const refusedLines = `printf '%s\n' '{"type":"DETAIL_GAP","stream":"beds","record_key":"b1","reason":"rate_limited","status":"pending","retryable":true,"detail_locator":{"kind":"bed"},"reference_only":true}' '{"type":"STATE","stream":"beds","cursor":{"n":1}}'` + "\n"

// failing is a connector that writes some lines and fails with the code and message.
func failing(lines, code, message string) string {
	return "#!/bin/sh\nread -r start\n" + lines + `printf '%s\n' '{"type":"DONE","status":"failed","records_emitted":0,"error":{"code":"` + code + `","message":"` + message + `"}}'` + "\nexit 1\n"
}

const networkOnly = `{"bindings":{"network":{"required":true}}}`

// words returns everything that an owner reads of a connection's verdict.
func words(c view.Connection) string {
	out := []string{c.Verdict.ForwardStatement, c.Verdict.Outline.Happened, c.Verdict.Outline.Means, c.Verdict.Outline.Next}
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
			"succeeded": saying(refusedLines), "failed": failing(refusedLines, "lists_broken", "no"), "later": saying(refusedLines), "unscheduled": saying(refusedLines),
		} {
			g.install(id, needing(id, networkOnly), script)
			g.connect(id, id)
			if id != "later" {
				g.schedule(id, time.Hour)
			}
		}
	}, func(t *testing.T, g *ground) {
		g.until("a worker is there", func() bool {
			return scheduler.RunNow(t.Context(), g.st, store.RunRequest{ConnectionID: "later", Trigger: store.TriggerManual, RequestedAt: time.Now()}) == nil
		})
		for _, id := range []string{"succeeded", "failed", "later", "unscheduled"} {
			g.until(id+" has ended", func() bool { return g.seen(id).LastRun != nil })
		}
		g.schedule("later", time.Hour)
		g.must(g.st.DeleteSchedule(t.Context(), "unscheduled"))
		for _, id := range []string{"succeeded", "failed", "later"} {
			c := g.seen(id)
			retry, next := c.Health.Condition(health.RetryPolicyClear), c.Health.NextAttemptAt
			if !retry.Fails() || retry.Reason != health.ReasonPressure || retry.ExpiresAt == nil || next == nil || !next.Equal(*retry.ExpiresAt) {
				t.Errorf("%s: %s %q until %v, and the next attempt is at %v", id, retry.Reason, retry.Message, retry.ExpiresAt, next)
			}
		}
		c := g.seen("unscheduled")
		if text := words(c); strings.Contains(text, "by itself") && !strings.Contains(text, "Nothing by itself") || strings.Contains(text, "continues by itself") || c.Health.NextAttemptAt != nil {
			t.Errorf("without a schedule: next attempt %v\n%s", c.Health.NextAttemptAt, text)
		}
		if a := c.Verdict.RequiredActions; len(a) != 1 || a[0].Audience != "owner" {
			t.Errorf("without a schedule: %+v", a)
		}
	})
}
