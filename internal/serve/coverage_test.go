package serve

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/health"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
)

// saying returns a connector that prints some lines and succeeds.
func saying(lines string) string {
	return "#!/bin/sh\nread -r start\n" + lines +
		fmt.Sprintf(`printf '%%s\n' '{"type":"DONE","status":"succeeded","records_emitted":%d}'`+"\n",
			strings.Count(lines, `"type":"RECORD"`))
}

// A connection is judged by what its runs stored. A success without any report proves nothing, one that read an empty
// list to its end does, and one that left a gap names the stream and how it is filled.
func TestCoverageOfStoredRuns(t *testing.T) {
	t.Attr("spec", "CH-05.1")
	onBoth(t, func(g *ground) {
		for id, lines := range map[string]string{
			"silent": "",
			"empty":  `printf '%s\n' '{"type":"STATE","stream":"beds","cursor":{"n":1}}'` + "\n",
			"gapped": `printf '%s\n' '{"type":"DETAIL_GAP","stream":"beds","record_key":"b1",` +
				`"reason":"temporary_unavailable","status":"pending","retryable":true,"detail_locator":{"kind":"bed"},` +
				`"reference_only":true}' '{"type":"STATE","stream":"beds","cursor":{"n":1}}'` + "\n",
		} {
			g.install(id, needing(id, `{"bindings":{"network":{"required":true}}}`), saying(lines))
			g.connect(id, id)
			g.schedule(id, time.Hour)
		}
	}, func(t *testing.T, g *ground) {
		for id, want := range map[string]struct {
			state    health.State
			coverage health.Coverage
			tone     verdict.Tone
			remedy   health.RemedyAction
		}{
			"silent": {health.Unknown, health.CoverageUnknown, verdict.Grey, ""},
			"empty":  {health.Healthy, health.Complete, verdict.Green, ""},
			"gapped": {health.Degraded, health.RetryableGap, verdict.Amber, health.RetryByRuntime},
		} {
			g.until(id+" has ended", func() bool { return g.seen(id).LastRun != nil })
			c := g.seen(id)
			if c.LastRun.Status != "succeeded" || c.Health.State != want.state || c.Health.Axes.Coverage != want.coverage ||
				c.Verdict.Pill.Tone != want.tone {
				t.Errorf("%s: the run %s, %s, coverage %s, %s: %+v", id, c.LastRun.Status, c.Health.State, c.Health.Axes.Coverage,
					c.Verdict.Pill.Tone, c.Verdict.Outline)
			}
			condition := c.Health.Condition(health.SourceCoverageComplete)
			if want.remedy != "" && (condition.Remediation == nil || condition.Remediation.Action != want.remedy ||
				!slices.Equal(condition.Streams, []string{"beds"})) {
				t.Errorf("%s: condition %+v of %v", id, condition.ConditionKind, condition.Streams)
			}
		}
	})
}
