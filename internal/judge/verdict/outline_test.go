package verdict

import (
	"testing"
	"time"

	"pdpp/internal/judge/health"
)

func neverRun(in *Input) {
	in.Snapshot.State, in.Snapshot.LastSuccessAt = health.Idle, nil
	gap(health.CoverageUnknown, health.DispositionChecking)(in)
	in.Snapshot.Axes.Freshness = health.FreshnessUnknown
	in.Snapshot.Conditions[1] = condition(health.CollectionSucceeded, health.StatusUnknown, health.Info, "collection_not_observed")
	in.Progress.LastRefreshedAt, in.Progress.RecordsCommittedLastRun = nil, nil
	in.Schedule.HasPriorSuccess = false
}

func kept(n int64) func(*Input) { return func(in *Input) { in.Progress.RetainedRecords = &n } }

func attemptIn(d time.Duration) func(*Input) {
	return func(in *Input) { in.Snapshot.NextAttemptAt = ptr(observed.Add(d)) }
}

// TestOutline shows the three lines of the states that an owner meets.
func TestOutline(t *testing.T) {
	for name, c := range map[string]struct {
		in   Input
		want Outline
	}{
		"healthy": {healthy(attemptIn(2 * time.Hour)), Outline{
			"Refreshed today, 12 new records.", "", "It goes on by itself in about 2 hours."}},
		"credential refused": {healthy(credentialRejected, kept(148902)), Outline{
			"The source refused the credential.", "148,902 records are kept, and nothing newer comes in until this is mended.",
			say(ctaReconnect) + "."}},
		"never run": {healthy(neverRun, attemptIn(0)), Outline{
			"Connected, and no run has ended yet.", "Nothing is kept yet.", "It goes on by itself at any moment."}},
		"first run, nothing yet": {healthy(neverRun, syncing, kept(0)), Outline{
			"The first collection is under way.", "What arrives is kept and can be read at once.", "It goes on by itself."}},
		"first run": {healthy(neverRun, syncing, kept(1200)), Outline{
			"The first collection is under way.",
			"1,200 records are kept so far and can be read now, and how many there are is known when the lists end.",
			"It goes on by itself."}},
		"left for later": {healthy(gap(health.RetryableGap, health.DispositionResumable), attemptIn(time.Hour)), Outline{
			"The last run left something for a later one.", say(meansPartMissing), "It goes on by itself within an hour."}},
		"stale gap": {healthy(state(health.Degraded), gap(health.RetryableGap, health.DispositionResumable), freshness(health.Stale, 3), attemptIn(time.Minute)), Outline{
			"The last run left something for a later one.", say(meansPartMissing), "It goes on by itself at any moment, and a retry starts it sooner."}},
		"manual": {healthy(staleManual, attemptIn(time.Hour)), Outline{
			"Refreshed 9 days ago, 12 new records.", say(meansStale), say(ctaRefreshNow) + "."}},
		"terminal": {healthy(gap(health.TerminalGap, health.DispositionTerminal)), Outline{
			say(hapTerminal), say(meansTerminal), say(ctaNeedsCode) + "."}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := judge(t, c.in).Outline; got != c.want {
				t.Errorf("\n got %+v\nwant %+v", got, c.want)
			}
		})
	}
}

// TestFirstCollectionSaysWhatIsKept holds the sentence of a first run that is
// under way: what is kept so far is known, whatever else is not.
func TestFirstCollectionSaysWhatIsKept(t *testing.T) {
	for want, in := range map[string]Input{
		"1,200 records are kept, and the first collection goes on.": healthy(neverRun, syncing, kept(1200)),
		"1 record is kept, and the first collection goes on.":       healthy(neverRun, syncing, kept(1)),
		"The first collection is under way.":                        healthy(neverRun, syncing, kept(0)),
		say(stCoverageUnknown):                                      healthy(neverRun, kept(1200)),
	} {
		if got := judge(t, in).ForwardStatement; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
