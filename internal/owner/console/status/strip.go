package status

import (
	"strings"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/view"
)

// share is how many connections have a pill of the tone.
type share struct {
	Tone  string
	Label string // the pill's own
	Count int
}

// tones is the order in which pills are counted.
var tones = [...]verdict.Tone{verdict.Green, verdict.Amber, verdict.Red, verdict.Grey}

// shares counts the pills. Their labels are those that the rows show.
func shares(all []view.Connection) []share {
	counts, labels := map[verdict.Tone]int{}, map[verdict.Tone]string{}
	for i := range all {
		pill := &all[i].Verdict.Pill
		counts[pill.Tone]++
		labels[pill.Tone] = pill.Label
	}
	var out []share
	for _, tone := range tones {
		if n := counts[tone]; n > 0 {
			out = append(out, share{Tone: string(tone), Label: labels[tone], Count: n})
		}
	}
	return out
}

// kept sums the records of the connections that were counted.
func kept(all []view.Connection) (records int64) {
	for i := range all {
		if n := all[i].TotalRecords; n != nil {
			records += *n
		}
	}
	return records
}

// populations returns how the registered connections divide into groups, so that no number is read
// as more than it counts.
func populations(s *view.Summary) string {
	line := text.Number(int64(s.WithData)) + " with things, " + text.Number(int64(s.WithoutData)) + " with none yet"
	if s.DataNotMeasured > 0 {
		line += ", " + text.Number(int64(s.DataNotMeasured)) + " not measured"
	}
	return line
}

// headline returns a title that reports whether anything needs the owner, and a sentence with
// details.
func headline(s *view.Summary) (title, lede string) {
	switch {
	case s.Attention > 0:
		title = counted(s.Attention, "source needs you", "sources need you")
		if s.Advisory > 0 {
			lede = counted(s.Advisory, "more is worth a look when you have time. ", "more are worth a look when you have time. ")
		}
	case s.Advisory > 0:
		title = "Nothing needs you now"
		lede = counted(s.Advisory, "source is worth a look when you have time. ",
			"sources are worth a look when you have time. ")
	case s.NothingToSee:
		return "Everything runs on its own", "None of the " + text.Number(int64(s.Registered)) +
			" registered sources needs you."
	default:
		title = "Nothing needs you now"
	}
	if s.Calm > 0 {
		lede += counted(s.Calm, "runs on its own.", "run on their own.")
	}
	return title, lede
}

// watchful returns how many connections need a look, whether or not the owner has to act, and
// how many of them wait for a device. It is empty when all is well.
func watchful(s *view.Summary) string {
	if s.Visible == 0 && s.Stalled == 0 {
		return ""
	}
	line := text.Number(int64(s.Visible)) + " of all " + text.Number(int64(s.Registered)) +
		" registered sources need a look"
	if s.Visible == 1 {
		line = strings.Replace(line, "need", "needs", 1)
	}
	if s.Stalled > 0 {
		line += "; " + text.Number(int64(s.Stalled)) + " with uploads stalled on a device"
	}
	return line
}
