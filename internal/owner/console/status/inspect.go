package status

import (
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/view"
)

// fact is a label and a value, as the evidence has it.
type fact struct {
	Name  string
	Value string
	At    *time.Time
}

// detailFacts are the plain members of the verdict's detail, word for word.
func detailFacts(v *verdict.Verdict) []fact {
	d := &v.Detail
	return []fact{
		{Name: "state", Value: string(d.State)},
		{Name: "reason_code", Value: orNone(string(d.ReasonCode))},
		{Name: "dominant_condition_id", Value: orNone(string(d.DominantID))},
		{Name: "forward_disposition", Value: string(d.Disposition)},
		{Name: "next_attempt_at", Value: orNone(""), At: d.NextAttemptAt},
		{Name: "tone_cause", Value: v.Trace.ToneCause},
		{Name: "channel_cause", Value: orNone(v.Trace.ChannelCause)},
	}
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// conditionRow is one condition, word for word.
type conditionRow struct {
	Type, Status, Reason, Origin, Message string
	Fails                                 bool
	At                                    *time.Time
}

func conditionRows(v *verdict.Verdict) []conditionRow {
	var out []conditionRow
	for i := range v.Detail.Conditions {
		c := &v.Detail.Conditions[i]
		if c.ConditionKind == nil {
			continue
		}
		row := conditionRow{
			Type: string(c.Type), Status: string(c.Status), Reason: orNone(c.Reason), Origin: string(c.Origin),
			Message: c.Message, Fails: c.Fails(), At: c.ObservedAt,
		}
		if c.Fails() {
			row.Status += ", " + string(c.Severity)
		}
		if !c.Current {
			row.Status += ", not current"
		}
		out = append(out, row)
	}
	return out
}

// failing returns the summary of the table: how many checks failed.
func failing(rows []conditionRow) string {
	var n int64
	for _, r := range rows {
		if r.Fails {
			n++
		}
	}
	if n == 0 {
		return "all " + text.Number(int64(len(rows))) + " passed"
	}
	return text.Number(n) + " of " + text.Number(int64(len(rows))) + " failed"
}

// backlogFacts are the counts of what is missing, word for word. Nil means that it
// was not measured.
func backlogFacts(v *verdict.Verdict) []fact {
	b := v.Detail.Backlog
	if b == nil {
		return nil
	}
	count := func(n int64, floor bool) string {
		if floor {
			return "at least " + text.Number(n)
		}
		return text.Number(n)
	}
	maybe := func(n *int64) string {
		if n == nil {
			return "not measured"
		}
		return text.Number(*n)
	}
	return []fact{
		{Name: "Pending, slower pace", Value: count(b.Pending, b.PendingIsFloor)},
		{Name: "Pending, other reasons", Value: count(b.PendingOther, b.PendingOtherIsFloor)},
		{Name: "Recovered", Value: maybe(b.Recovered)},
		{Name: "Given up", Value: maybe(b.Terminal)},
		{Name: "Most tries on one item", Value: text.Number(b.MaxAttemptCount)},
		{Name: "Not before", Value: "no bound", At: b.NextAttemptAt},
	}
}

// otherOpen returns a note if only reasons other than the pace hold work back. Without the note, a
// count of zero would read as caught up.
func otherOpen(v *verdict.Verdict) string {
	b := v.Detail.Backlog
	if b == nil || b.Pending > 0 || b.PendingOther <= 0 {
		return ""
	}
	return otherWords(b.PendingOther, b.PendingOtherIsFloor)
}

// layerWords name the links of the chain.
func layerWords(l view.Layer) string { return strings.ToUpper(string(l[:1])) + string(l[1:]) }

// mostMissing bounds the list on the page.
const mostMissing = 50
