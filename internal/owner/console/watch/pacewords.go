package watch

import (
	"math"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// short writes a rate without needless digits.
func short(n float64) string {
	if n >= 10 {
		return text.Number(int64(math.Round(n)))
	}
	return strconv.FormatFloat(math.Round(n*10)/10, 'f', -1, 64)
}

func perMinute(n float64) string { return short(n) + " a minute" }

// rateWords are the pace and its ceiling in a few words; empty when nothing was measured.
func rateWords(p *api.Pace) string {
	if p.CurrentPerMinute == nil {
		return ""
	}
	line := perMinute(*p.CurrentPerMinute)
	if p.Live {
		line += " now"
	}
	if p.CeilingPerMinute != nil {
		line += ", ceiling " + short(*p.CeilingPerMinute)
	}
	return line
}

// everyWords writes a rate as the time between two requests.
func everyWords(perMinute float64) string {
	if perMinute <= 0 {
		return ""
	}
	seconds := 60 / perMinute
	if seconds >= 90 {
		return "every " + ui.Span(int64(math.Round(seconds)))
	}
	digits := 1
	if seconds < 0.95 {
		digits = 2
	}
	return "every " + strconv.FormatFloat(seconds, 'f', digits, 64) + " s"
}

func backoffWords(paused bool) string {
	if paused {
		return "the source asked for a pause"
	}
	return "slowed down after a refusal"
}

// lastBackoff is the newest moment at which the source asked for a slower pace.
func lastBackoff(p *api.Pace) *api.Backoff {
	var out *api.Backoff
	for i := range p.Runs {
		for j := range p.Runs[i].Backoffs {
			if b := &p.Runs[i].Backoffs[j]; out == nil || b.At.After(out.At) {
				out = b
			}
		}
	}
	return out
}

// plotWords say what the drawing shows, for whoever does not see it.
func plotWords(runs []api.RunPace, p *api.Pace) string {
	backoffs := 0
	for _, r := range runs {
		backoffs += len(r.Backoffs)
	}
	line := text.Count(int64(len(runs)), "run", "runs") + ", " + text.Count(int64(backoffs), "back-off", "back-offs")
	if p.CeilingPerMinute != nil {
		line += ", under a ceiling of " + perMinute(*p.CeilingPerMinute)
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
			RunID: r.RunID, At: r.StartedAt, Slowest: short(low), Fastest: short(high), Last: short(r.Points[len(r.Points)-1].PerMinute),
			Slowed: text.Number(int64(slowed)), Paused: text.Number(int64(paused)),
		})
	}
	return out
}
