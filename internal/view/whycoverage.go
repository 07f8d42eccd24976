package view

import (
	"slices"
	"strconv"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/health"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
)

// coverageFacts describes the condition's streams, or the newest measurement if it names none.
func coverageFacts(e *evidence.Evidence, c *health.Condition) []Step {
	var out []Step
	if e.Gaps == nil {
		out = append(out, Step{Fact: "The list of missing items could not be read.",
			Rule: "without it nothing counts as complete"})
	} else {
		out = append(out, gapFacts(e.Gaps, c.Streams)...)
	}
	for i := range e.Streams {
		if s := &e.Streams[i]; slices.Contains(c.Streams, s.Name) {
			out = append(out, streamFacts(s)...)
		}
	}
	if e.Device != nil && (e.LastRun == nil || e.LastRun.Trigger == evidence.TriggerDevice) {
		out = append(out, storeFacts(e.Device)...)
	}
	if len(out) == 0 {
		out = runFacts(e)
	}
	return out
}

func gapFacts(g *evidence.Gaps, streams []string) []Step {
	var out []Step
	for i := range g.Groups {
		group := &g.Groups[i]
		if group.Count <= 0 || len(streams) > 0 && !slices.Contains(streams, group.Stream) {
			continue
		}
		most := ""
		if g.Floor {
			most = "At least "
		}
		out = append(out, Step{
			Fact: most + countedNoun(group.Count, "item") + " of " + group.Stream + " missing (" +
				codeOr(string(group.Reason), "reason not shown") + ").",
			At: group.Earliest, Rule: "a later run fetches what is still missing",
		})
	}
	return out
}

func streamFacts(s *evidence.Stream) []Step {
	f := s.Fact
	if f == nil {
		return []Step{{Fact: "No run has measured the stream " + s.Name + ".", Rule: "what was not measured is not complete"}}
	}
	var out []Step
	if f.Skip != nil {
		out = append(out, Step{Fact: "The run left out " + s.Name + " (" + codeOr(f.Skip.Reason, "reason not shown") + ").",
			At: &f.At, Rule: "a declared skip shows whether a later run can help"})
	}
	if f.Short() {
		out = append(out, Step{
			Fact: "The run covered " + strconv.FormatInt(*f.Covered, 10) + " of " + strconv.FormatInt(*f.Considered, 10) +
				" in " + s.Name + ".",
			At: &f.At, Rule: "less than was considered is partial",
		})
	}
	if f.TotalShort() {
		out = append(out, Step{Fact: s.Name + ": " + verdict.TotalSentence(f.Drift.Total), At: &f.At,
			Rule: "less than the source announces is partial"})
	}
	if f.RunStatus != evidence.RunSucceeded {
		out = append(out, Step{Fact: "The run that measured " + s.Name + " " + runStatusWords(f.RunStatus) + ".", At: &f.At,
			Rule: "only a success proves that all is here"})
	}
	if f.Checkpoint == evidence.CheckpointWithheld {
		out = append(out, Step{Fact: "The progress of " + s.Name + " was not saved.", At: &f.At,
			Rule: "what the run could not account for is fetched again"})
	}
	return out
}

func storeFacts(d *evidence.Device) []Step {
	accounted := 0
	for _, s := range d.Stores {
		if s.Accounted() {
			accounted++
		}
	}
	fact := "No device has reported its stores."
	if len(d.Stores) > 0 {
		fact = "The devices account for " + strconv.Itoa(accounted) + " of " + countedNoun(int64(len(d.Stores)), "store") +
			"."
	}
	return []Step{{Fact: fact, Rule: "coverage is complete only when every store is accounted for"}}
}

func deviceFacts(e *evidence.Evidence) []Step {
	sources := trustedSources(e.Device)
	if len(sources) == 0 {
		return []Step{{Fact: "No active collector is enrolled.", Rule: "only a trusted device counts"}}
	}
	var out []Step
	for _, s := range sources {
		host := "A host"
		if s.Host != "" {
			host = "The host " + s.Host
		}
		h := s.Heartbeat
		if h == nil {
			out = append(out, Step{Fact: host + " has not reported yet.",
				Rule: "without a report nothing is known of its uploads"})
			continue
		}
		fact := host + " reported " + codeOr(string(h.Status), "an unknown status")
		switch {
		case h.Outbox != nil && h.Outbox.DeadLetter > 0:
			fact += ", with " + countedNoun(h.Outbox.DeadLetter, "failed upload")
		case h.Pending != nil && *h.Pending > 0:
			fact += ", with " + countedNoun(*h.Pending, "record") + " waiting"
		}
		out = append(out, Step{Fact: fact + ".", At: &h.At, Rule: "a report counts for " +
			durationWords(int64(health.StaleHeartbeat.Seconds())) + " while work waits"})
	}
	return out
}
