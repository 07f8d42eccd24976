package status

import (
	"cmp"
	"slices"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// mostSteps is how many steps of a run that ended its page lists at once.
const mostSteps = 6

// runTitles are the headings of runs that saved something, by status.
var runTitles = map[string]string{
	running: "This run is under way", succeeded: "This run finished", "failed": "This run stopped early",
	"cancelled": "This run was cancelled", "abandoned": "This run stopped unexpectedly",
	"skipped": "This run did not start",
}

// runTitle is how a run ended, as the heading of its page.
func runTitle(r *api.Run) string {
	if r.Status == "failed" && r.RecordsEmitted == 0 {
		return "This run failed"
	}
	return cmp.Or(runTitles[r.Status], text.Upper(r.Status))
}

// runLength is how long a run took, after the time of its start.
func runLength(s *oneRun) string {
	span := took(&s.Run, s.Connection.ObservedAt)
	switch s.Status {
	case running:
		return ", for " + span + " now."
	case "skipped":
		return "."
	default:
		return ", after " + span + "."
	}
}

// runFailure is what failed; empty for a run that did what it should.
func runFailure(r *api.Run) string {
	if r.Failure == "" && r.Status == "abandoned" {
		return "The program that ran it ended before the run did."
	}
	return r.Failure
}

// runMatters is what the outcome means for what the owner has here.
func runMatters(r *api.Run) string {
	saved := text.Count(r.RecordsEmitted, "thing was saved", "things were saved")
	switch {
	case r.Status == succeeded && r.RecordsEmitted == 0:
		return "Nothing was new. Everything from before is here."
	case r.Status == succeeded:
		return saved + "."
	case r.RecordsEmitted == 0:
		return "Nothing was read and nothing was lost. Everything from earlier runs is here."
	default:
		return saved + " before it stopped, and nothing was lost. The next run continues from there."
	}
}

// newest reports whether no run of the source began after this one.
func (s *oneRun) newest() bool {
	return !slices.ContainsFunc(s.Connection.RecentRuns, func(r api.Run) bool { return r.StartedAt.After(s.StartedAt) })
}

// action is what the verdict asks of the owner, for the newest run that did not finish; nil otherwise.
func (s *oneRun) action() *actionButton {
	if s.Status == succeeded || !s.newest() {
		return nil
	}
	return primary(&s.Connection.Connection)
}

// before returns the newest earlier run that is wanted, of those that the source's page knows; nil if there is none.
func (s *oneRun) before(wanted func(*api.Run) bool) *api.Run {
	for i := range s.Connection.RecentRuns {
		if r := &s.Connection.RecentRuns[i]; r.StartedAt.Before(s.StartedAt) && wanted(r) {
			return r
		}
	}
	return nil
}

// lastSteps returns the end of a timeline in the order in which it happened. Events are the newest first.
func lastSteps(events []api.Event) []api.Event {
	steps := slices.Clone(events[:min(len(events), mostSteps)])
	slices.Reverse(steps)
	return steps
}
