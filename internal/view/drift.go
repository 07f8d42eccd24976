package view

import (
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
)

// StreamDrift is how the provider's answers about a stream differ from what this version of the connector expects. It
// is for the owner, who may send it to the connector's author.
type StreamDrift struct {
	Stream     string    `json:"stream"`
	ObservedAt time.Time `json:"observed_at"` // when the stream was last measured
	evidence.Drift
	// Statements are the same differences as sentences.
	Statements []string `json:"statements"`
}

// streamDrifts returns the streams with answers that differ.
func streamDrifts(e *evidence.Evidence) []StreamDrift {
	var out []StreamDrift
	for i := range e.Streams {
		s := &e.Streams[i]
		if s.Fact == nil || !s.Fact.Drift.Any() {
			continue
		}
		d := StreamDrift{Stream: s.Name, ObservedAt: s.Fact.At, Drift: *s.Fact.Drift}
		if t := d.Total; t.Short() {
			d.Statements = append(d.Statements, verdict.TotalSentence(t))
		}
		if d.Beginning.Suspicious() {
			d.Statements = append(d.Statements, beginningWords(d.Beginning))
		}
		for i := range d.Differences {
			d.Statements = append(d.Statements, differenceWords(&d.Differences[i]))
		}
		if d.More > 0 {
			d.Statements = append(d.Statements, countedNoun(d.More, "further difference")+" not listed.")
		}
		out = append(out, d)
	}
	return out
}

func beginningWords(b *evidence.Beginning) string {
	return "The history begins exactly " + strconv.FormatInt(b.Days, 10) +
		" days before the run. The source may keep or show no more than that."
}

func differenceWords(d *evidence.Difference) string {
	at := " (" + d.Route + ")."
	if d.Route == "" {
		at = "."
	}
	met := " in " + countedNoun(d.Count, "place")
	switch d.Kind {
	case evidence.NewMember:
		if strings.HasSuffix(d.Member, evidence.HiddenMember) {
			return "New members, names not shown: " + d.Member + met + at
		}
		return "New member: " + d.Member + met + at
	case evidence.AbsentMember:
		return "Missing member: " + d.Member + ", in all " + strconv.FormatInt(d.Of, 10) + at
	case evidence.OtherType:
		name := d.Member
		if name == "" {
			name = "the answer"
		}
		return "Other type: " + name + " is " + d.Found + " instead of " + d.Expected + met + at
	case evidence.OtherTotal:
		return "Other total: " + d.Member + " announces more than was listed, " +
			strconv.FormatInt(d.Count, 10) + " of " + countedNoun(d.Of, "time") + at
	case evidence.SmallPage:
		return "A list ended after exactly " + strconv.FormatInt(d.Count, 10) + " items although " +
			strconv.FormatInt(d.Of, 10) + " were asked for" + at
	default:
		return "Difference: " + string(d.Kind) + " " + d.Member + met + at
	}
}

// DriftTitle is the heading of the list of differences.
const DriftTitle = "Answers differ from what this version expects"

// driftSteps returns the differences that decide nothing. A total that disagrees is listed with the coverage instead.
func driftSteps(e *evidence.Evidence) []Step {
	var steps []Step
	for _, d := range streamDrifts(e) {
		for _, text := range d.Statements {
			if d.Total.Short() && text == verdict.TotalSentence(d.Total) {
				continue
			}
			at := d.ObservedAt
			steps = append(steps, Step{Layer: LayerEvidence, Fact: d.Stream + ": " + text, At: &at,
				Rule: "answers differ from what this version expects", Result: "noted"})
		}
	}
	return steps
}
