package words

import (
	"math"
	"strconv"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// RequestRate returns a number of requests without needless digits.
func RequestRate(n float64) string {
	switch {
	case n >= 10:
		return text.Number(int64(math.Round(min(n, 1e15))))
	case n > 0 && n < 0.05:
		return "under 0.1"
	}
	return strconv.FormatFloat(math.Round(max(n, 0)*10)/10, 'f', -1, 64)
}

// RequestsPerMinute returns a rate: "83 a minute".
func RequestsPerMinute(n float64) string { return RequestRate(n) + " a minute" }

// RequestInterval returns a rate as the time between two requests: "every 0.72 s". It returns "" for no requests.
func RequestInterval(perMinute float64) string {
	if perMinute <= 0 {
		return ""
	}
	seconds := 60 / perMinute
	if seconds >= 90 {
		return "every " + ShortSpan(int64(math.Round(min(seconds, 1e12))))
	}
	digits := 1
	if seconds < 0.95 {
		digits = 2
	}
	return "every " + strconv.FormatFloat(seconds, 'f', digits, 64) + " s"
}

// BackoffReason returns why the pace slowed down.
func BackoffReason(paused bool) string {
	if paused {
		return "the source asked for a pause"
	}
	return "slowed down after a refusal"
}

// LastBackoff returns the most recent back-off of the runs and its run, or nil.
func LastBackoff(p *api.Pace) (last *api.Backoff, runID string) {
	for i := range p.Runs {
		for j := range p.Runs[i].Backoffs {
			if b := &p.Runs[i].Backoffs[j]; last == nil || b.At.After(last.At) {
				last, runID = b, p.Runs[i].RunID
			}
		}
	}
	return last, runID
}
