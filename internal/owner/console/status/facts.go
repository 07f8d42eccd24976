package status

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/words"
)

// streamLabel is the stream in the connector's words, or its name.
func (s *shown) streamLabel(name string) string {
	if s.Connector != nil {
		for i := range s.Connector.Streams {
			if one := &s.Connector.Streams[i]; one.Name == name && one.Label != "" {
				return one.Label
			}
		}
	}
	return name
}

func (s *shown) supports(limit string) bool { return slices.Contains(s.Limits.Supports, limit) }

// incomplete reports whether so much is missing that a bar shows it.
func incomplete(collected, considered int64) bool {
	return considered > 0 && float64(collected) < 0.99*float64(considered)
}

// leftWords returns how many details are left. A lower bound is marked with "at least".
func leftWords(n int64, floor bool) string {
	line := text.Count(n, "detail left", "details left")
	if floor {
		return "at least " + line
	}
	return line
}

// otherWords are about details that wait for other reasons than the pace.
func otherWords(n int64, floor bool) string {
	line := text.Count(n, "other detail is still open", "other details are still open")
	if floor {
		line = "At least " + line
	}
	return line + ". Pace is not the reason."
}

// scheduleWords returns when the connection collects.
func (s *shown) scheduleWords() string {
	if s.Plan == nil {
		return words.ConnectionSchedule(s.SourceKind == localDevice, nil)
	}
	return words.ConnectionSchedule(s.SourceKind == localDevice, &s.Plan.Schedule)
}

// usualRhythms are offered where the connector allows them.
var usualRhythms = []int64{900, 3600, 3 * 3600, 6 * 3600, 12 * 3600, 24 * 3600, 7 * 24 * 3600}

// rhythms lists what can be chosen: the usual ones that the connector allows, what it
// recommends, and what is set.
func rhythms(s *shown) []int64 {
	var least, recommended int64
	if s.Connector != nil {
		least, recommended = s.Connector.Refresh.MinimumSeconds, s.Connector.Refresh.RecommendedSeconds
	}
	out := slices.DeleteFunc(slices.Clone(usualRhythms), func(n int64) bool { return n < least })
	if recommended > 0 {
		out = append(out, recommended)
	}
	if s.Plan != nil && s.Plan.IntervalSeconds > 0 {
		out = append(out, s.Plan.IntervalSeconds)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// blankZero leaves the field of a limit that is not set empty.
func blankZero(n float64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// outcomes of runs in the owner's words, by status.
var outcomes = map[string]string{
	running: "Under way", succeeded: "Finished", "failed": "Stopped early, progress saved",
	"cancelled": "Cancelled", "abandoned": "Stopped unexpectedly, progress saved", "skipped": "Not started",
}

// unsaved are the outcomes of runs that brought nothing.
var unsaved = map[string]string{"failed": "Failed", "abandoned": "Stopped unexpectedly"}

// outcome returns how a run ended, and why.
func outcome(r *api.Run) string {
	words := outcomeWord(r)
	if r.Failure != "" {
		words += ". " + r.Failure
	}
	return words
}

// outcomeWord is how a run ended, without the cause.
func outcomeWord(r *api.Run) string {
	words := outcomes[r.Status]
	if r.RecordsEmitted == 0 {
		words = cmp.Or(unsaved[r.Status], words)
	}
	return cmp.Or(words, r.Status)
}

var starters = map[string]string{"manual": "You", "scheduled": "Schedule", "retry": "A retry", "webhook": "The source"}

func startedBy(trigger string) string {
	if words := starters[trigger]; words != "" {
		return words
	}
	return text.Upper(trigger)
}

func took(r *api.Run, now time.Time) string {
	return words.ShortSpan(int64(ranFor(r, now) / time.Second))
}

func ranFor(r *api.Run, now time.Time) time.Duration {
	if r.CompletedAt != nil {
		return r.CompletedAt.Sub(r.StartedAt)
	}
	return now.Sub(r.StartedAt)
}

func runsPath(connectionID string) string {
	if connectionID == "" {
		return "/runs"
	}
	return "/runs?" + url.Values{"connection": {connectionID}}.Encode()
}

func labelOr(r *api.RunStream) string {
	if r.Label == "" {
		return r.Name
	}
	return r.Label
}

// atLeast keeps what is considered from being less than what is there: a run learns
// the whole only on its way.
func atLeast(considered *int64, collected int64) *int64 {
	if considered == nil || *considered >= collected {
		return considered
	}
	return &collected
}
