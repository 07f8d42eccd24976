package status

import (
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/words"
)

// rateWords are the pace and its ceiling in a few words; empty when nothing was measured.
func rateWords(p *api.Pace) string {
	if p.CurrentPerMinute == nil {
		return ""
	}
	line := words.RequestsPerMinute(*p.CurrentPerMinute)
	if p.Live {
		line += " now"
	}
	if p.CeilingPerMinute != nil {
		line += ", ceiling " + words.RequestRate(*p.CeilingPerMinute)
	}
	return line
}

// plotWords returns a text alternative for the drawing, for screen readers.
func plotWords(runs []api.RunPace, p *api.Pace) string {
	backoffs := 0
	for _, r := range runs {
		backoffs += len(r.Backoffs)
	}
	line := text.Count(int64(len(runs)), "run", "runs") + ", " + text.Count(int64(backoffs), "back-off", "back-offs")
	if p.CeilingPerMinute != nil {
		line += ", under a ceiling of " + words.RequestsPerMinute(*p.CeilingPerMinute)
	}
	return line + ". The numbers follow as a table."
}

// paceRow is one run in numbers.
type paceRow struct {
	RunID                  string
	At                     time.Time
	Slowest, Fastest, Last string
	Slowed, Paused         string
}

func paceRows(p *api.Pace) []paceRow {
	var out []paceRow
	for _, r := range drawn(p) {
		low, high := r.Points[0].PerMinute, r.Points[0].PerMinute
		for _, point := range r.Points {
			low, high = min(low, point.PerMinute), max(high, point.PerMinute)
		}
		slowed, paused := 0, 0
		for _, b := range r.Backoffs {
			if b.Paused {
				paused++
			} else {
				slowed++
			}
		}
		out = append(out, paceRow{
			RunID: r.RunID, At: r.StartedAt, Slowest: words.RequestRate(low), Fastest: words.RequestRate(high),
			Last:   words.RequestRate(r.Points[len(r.Points)-1].PerMinute),
			Slowed: text.Number(int64(slowed)), Paused: text.Number(int64(paused)),
		})
	}
	return out
}
