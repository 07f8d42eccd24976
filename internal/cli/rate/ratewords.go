package rate

import (
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/words"
)

// paceWords returns a rate and the interval between requests.
func paceWords(perMinute *float64) string {
	if perMinute == nil {
		return output.NotMeasured
	}
	return words.RequestsPerMinute(*perMinute) + ", " + words.RequestInterval(*perMinute)
}

// limitWords returns the learned limit. It distinguishes a limit that was not reached from one that was never measured.
func limitWords(p api.Pace, now time.Time) string {
	l := p.Learned
	switch {
	case l == nil && len(p.Runs) == 0:
		return output.NotMeasured
	case l == nil:
		return "not known: no bookmark carries it"
	}
	limit := "not met yet"
	if l.LimitPerMin != nil {
		limit = words.RequestsPerMinute(*l.LimitPerMin)
	}
	age := words.TimeAgo(l.RecordedAt, now)
	if !l.Fresh {
		age += ", too old to use: the next run looks again"
	}
	return limit + " (stored " + age + ")"
}

// sharedWords returns how many connections share the quota.
func sharedWords(s *api.Sharers) string {
	return fmt.Sprintf("%s, this one included; %s on it now", text.Count(int64(s.Connections), "connection",
		"connections"), text.Count(int64(s.Runs), "run draws", "runs draw"))
}

func coverWords(p api.Pace) string {
	if p.Examined == 0 {
		return "no runs yet"
	}
	return fmt.Sprintf("%s with a rate, of the last %s", text.Count(int64(len(p.Runs)), "run", "runs"),
		text.Number(int64(p.Examined)))
}
