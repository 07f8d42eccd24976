package verdict

import (
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/judge/health"
)

// TestCheckFindsEachFault spoils a good verdict in one way at a time.
func TestCheckFindsEachFault(t *testing.T) {
	terminal := gap(health.TerminalGap, health.DispositionTerminal)
	drain := gap(health.Partial, health.DispositionResumable)
	for name, c := range map[string]struct {
		in    Input
		spoil func(*Verdict)
		rule  string
	}{
		"tone above the state": {healthy(state(health.Degraded)), func(v *Verdict) { v.Pill = Pill{Green, "Healthy"} },
			"pill"},
		"tone of no vote":          {healthy(), func(v *Verdict) { v.Pill = Pill{Amber, "Degraded"} }, "pill"},
		"label of another tone":    {healthy(), func(v *Verdict) { v.Pill.Label = "Needs you" }, "pill"},
		"attention without action": {healthy(), func(v *Verdict) { v.Channel = Attention }, "channel"},
		"silent action":            {healthy(staleManual), func(v *Verdict) { v.Channel = Calm }, "channel"},
		"cap that is not told": {healthy(credentialRejected, func(in *Input) { in.RuntimeOK = false }),
			func(v *Verdict) { v.Trace.RuntimeCapped = false }, "channel"},
		"stalled without recovery": {healthy(stalled("")), func(v *Verdict) { v.RequiredActions[0].Remediation = nil },
			"stalled device"},
		"stalled with other words": {healthy(stalled("")), func(v *Verdict) { v.ForwardStatement = sentence(stReauth) },
			"stalled device"},
		"recovery of nothing": {healthy(credentialRejected),
			func(v *Verdict) { v.RequiredActions[0].Remediation = &Remediation{} }, "stalled device"},
		"stale without a note": {healthy(staleManual), func(v *Verdict) { v.Annotations = nil }, "annotations"},
		"two calm notes": {healthy(),
			func(v *Verdict) { v.Annotations = append(v.Annotations, v.Annotations[0]) }, "annotations"},
		"a calm note of another kind": {healthy(), func(v *Verdict) { v.Annotations[0].Kind = KindOutbox }, "annotations"},
		"a count in a note": {healthy(), func(v *Verdict) { v.Annotations[0].Text = "40 items wait" },
			"annotations"},
		"fresh beside red": {healthy(credentialRejected),
			func(v *Verdict) { v.Annotations[0].Text = "Refreshed today" }, "annotations"},
		"wrong order": {healthy(staleManual, credentialRejected), func(v *Verdict) {
			v.RequiredActions[0], v.RequiredActions[1] = v.RequiredActions[1], v.RequiredActions[0]
		}, "actions"},
		"a wait for the owner": {healthy(drain), func(v *Verdict) { v.RequiredActions[0].Audience = AudienceOwner },
			"actions"},
		"a code fix that is watched": {healthy(terminal),
			func(v *Verdict) { v.RequiredActions[0].SatisfiedWhen.Kind = ConfirmingRun }, "actions"},
		"terminal on its own": {healthy(staleManual), func(v *Verdict) { v.RequiredActions[0].Terminal = true },
			"actions"},
		"an action without words": {healthy(staleManual), func(v *Verdict) { v.RequiredActions[0].CTA = "" }, "actions"},
		"a silent stale gap": {healthy(state(health.Degraded), drain, freshness(health.Stale, 3)),
			func(v *Verdict) { v.RequiredActions[0].Kind = RefreshNow }, "gap"},
		"a retry of the unknown": {healthy(staleManual, gap(health.CoverageUnknown, health.DispositionChecking)),
			func(v *Verdict) { v.RequiredActions[0].Kind = RetryGap }, "gap"},
		"a terminal promise": {healthy(terminal), func(v *Verdict) { v.ForwardStatement = sentence(stRetry) }, "terminal"},
		"a terminal headline": {healthy(terminal), func(v *Verdict) { v.Progress.Headline = "Last refreshed today" },
			"terminal"},
		"a row that promises": {healthy(terminal), func(v *Verdict) { v.Streams[0].Statement = sentence(rowAsOfRefresh) },
			"terminal"},
		"two sentences": {healthy(), func(v *Verdict) { v.ForwardStatement += " More." }, "statement"},
		"a false claim": {healthy(staleManual), func(v *Verdict) { v.ForwardStatement = sentence(stNormal) },
			"statement"},
		"a promise of the unknown": {healthy(gap(health.CoverageUnknown, health.DispositionChecking)),
			func(v *Verdict) { v.ForwardStatement = sentence(stNextRun) }, "statement"},
		"nothing happened":        {healthy(), func(v *Verdict) { v.Outline.Happened = "" }, "outline"},
		"no meaning beside amber": {healthy(state(health.Degraded)), func(v *Verdict) { v.Outline.Means = "" }, "outline"},
		"a terminal outlook":      {healthy(terminal), func(v *Verdict) { v.Outline.Next = sentence(stRetry) }, "outline"},
		"more than there is": {healthy(),
			func(v *Verdict) { v.Streams[0].Collected, v.Streams[0].Considered = ptr[int64](3), ptr[int64](2) }, "streams"},
		"a row too few":             {healthy(), func(v *Verdict) { v.Streams = v.Streams[1:] }, "streams"},
		"a row of another coverage": {healthy(), func(v *Verdict) { v.Streams[0].Coverage = health.Partial }, "streams"},
		"a reference to nothing":    {healthy(), func(v *Verdict) { v.Streams[0].ActionRef = ptr(0) }, "streams"},
		"a zero": {healthy(),
			func(v *Verdict) { v.Progress.Headline = "0 records collected by the last run" }, "progress"},
		"no mode": {healthy(), func(v *Verdict) { v.Progress.Mode = "" }, "progress"},
		"lost evidence": {healthy(), func(v *Verdict) { v.Detail.Conditions = v.Detail.Conditions[1:] },
			"detail"},
		"another condition": {healthy(), func(v *Verdict) { v.Detail.Conditions = make([]health.Condition, 3) },
			"detail"},
		"an untold suppression": {healthy(syncing), func(v *Verdict) { v.Detail.Suppressed = nil }, "detail"},
		"words of the machinery": {healthy(staleManual),
			func(v *Verdict) { v.RequiredActions[0].CTA = "Retry the dead-letter rows" }, "words"},
		"a voice that is not ours": {healthy(terminal), func(v *Verdict) { v.ForwardStatement = "Today we fix it." },
			"words"},
	} {
		t.Run(name, func(t *testing.T) {
			v := judge(t, c.in)
			c.spoil(&v)
			err := CheckVerdict(c.in, v)
			if err == nil || !strings.Contains("\n"+err.Error(), "\n"+c.rule+": ") {
				t.Errorf("%s is not found: %v", c.rule, err)
			}
		})
	}
}
