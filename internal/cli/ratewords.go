package cli

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const notMeasured = "not measured"

// paceWords is a rate and the interval that goes with it.
func paceWords(perMinute *float64) string {
	if perMinute == nil {
		return notMeasured
	}
	return fmt.Sprintf("one request every %s, %s per minute", spanWords(60_000 / *perMinute), rateWords(*perMinute))
}

// backoffWords says why the pace slowed down.
func backoffWords(paused bool) string {
	if paused {
		return "the provider asked to wait"
	}
	return "the provider refused the pace"
}

// limitWords tells the learned limit apart from one that was not met and from
// one that nobody looked for.
func limitWords(p api.Pace, now time.Time) string {
	l := p.Learned
	switch {
	case l == nil && len(p.Runs) == 0:
		return notMeasured
	case l == nil:
		return "not known: no bookmark carries it"
	}
	words := "not met yet"
	if l.LimitPerMin != nil {
		words = rateWords(*l.LimitPerMin) + " per minute"
	}
	age := ageWords(now.Sub(l.RecordedAt))
	if !l.Fresh {
		age += ", too old to use: the next run looks again"
	}
	return words + " (stored " + age + ")"
}

// sharedWords say who draws on the same allowance.
func sharedWords(s *api.Sharers) string {
	return fmt.Sprintf("%s, this one included; %s on it now", text.Count(int64(s.Connections), "connection", "connections"), text.Count(int64(s.Runs), "run draws", "runs draw"))
}

func coverWords(p api.Pace) string {
	if p.Examined == 0 {
		return "no runs yet"
	}
	return fmt.Sprintf("%s with a rate, of the last %s", text.Count(int64(len(p.Runs)), "run", "runs"), text.Number(int64(p.Examined)))
}

func ageWords(age time.Duration) string {
	switch {
	case age < -time.Minute:
		return "in the future"
	case age < time.Minute:
		return "just now"
	case age < time.Hour:
		return text.Count(int64(age/time.Minute), "minute", "minutes") + " ago"
	case age < 48*time.Hour:
		return text.Count(int64(age/time.Hour), "hour", "hours") + " ago"
	default:
		return text.Count(int64(age/(24*time.Hour)), "day", "days") + " ago"
	}
}

// spanWords is an interval for people. Connectors give it as a number, which
// may be any.
func spanWords(ms float64) string {
	if ms < 1000 {
		return figures(ms) + "ms"
	}
	return duration(time.Duration(min(ms, 1e12)) * time.Millisecond)
}

func rateWords(perMinute float64) string {
	if perMinute < 1000 {
		return figures(perMinute)
	}
	return text.Number(int64(min(perMinute, 1e15)))
}

// figures writes a number with three significant ones, and no exponent.
func figures(v float64) string {
	switch {
	case v <= 0:
		return "0"
	case v < 0.001:
		return "under 0.001"
	}
	unit := math.Pow(10, 2-math.Floor(math.Log10(v)))
	return strconv.FormatFloat(math.Round(v*unit)/unit, 'f', -1, 64)
}
