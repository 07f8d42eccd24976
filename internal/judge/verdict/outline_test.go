package verdict

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/health"
	"github.com/pdpp-go/pdpp/internal/ops/text"
)

func neverRun(in *Input) {
	in.Snapshot.State, in.Snapshot.LastSuccessAt = health.Idle, nil
	gap(health.CoverageUnknown, health.DispositionChecking)(in)
	in.Snapshot.Axes.Freshness = health.FreshnessUnknown
	in.Snapshot.Conditions[1] = condition(health.CollectionSucceeded, health.StatusUnknown, health.Info,
		"collection_not_observed")
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
			"Refreshed today, 12 new records.", "", "The next update starts in about 2 hours."}},
		"credential refused": {healthy(credentialRejected, kept(148902)), Outline{
			"The source refused the credential.", "148,902 records are saved; nothing newer arrives until this is fixed.",
			sentence(ctaReconnect) + "."}},
		"never run": {healthy(neverRun, attemptIn(0)), Outline{
			"Connected, and no run has ended yet.", "Nothing is saved yet.", "The next update starts at any moment."}},
		"first run, nothing yet": {healthy(neverRun, syncing, kept(0)), Outline{
			"The first run is under way.", "New records can be read as soon as they arrive.",
			"It continues automatically; you do not have to wait."}},
		"first run": {healthy(neverRun, syncing, kept(1200)), Outline{
			"The first run is under way.",
			"1,200 records are saved so far and can be read now; the total is known when the lists end.",
			"It continues automatically; you do not have to wait."}},
		"left for later": {healthy(gap(health.RetryableGap, health.DispositionResumable), attemptIn(time.Hour)), Outline{
			"The last run left something for a later one.", sentence(meansPartMissing),
			"The next update starts within an hour."}},
		"stale gap": {healthy(state(health.Degraded), gap(health.RetryableGap, health.DispositionResumable),
			freshness(health.Stale, 3), attemptIn(time.Minute)), Outline{
			"The last run left something for a later one.", sentence(meansPartMissing),
			"The next update starts at any moment, and a retry starts it sooner."}},
		"manual": {healthy(staleManual, attemptIn(time.Hour)), Outline{
			"Refreshed 9 days ago, 12 new records.", sentence(meansStale), sentence(ctaRefreshNow) + "."}},
		"terminal": {healthy(gap(health.TerminalGap, health.DispositionTerminal)), Outline{
			sentence(hapTerminal), sentence(meansTerminal), sentence(ctaNeedsCode) + "."}},
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
		"1,200 records are saved, and the first run continues.": healthy(neverRun, syncing, kept(1200)),
		"1 record is saved, and the first run continues.":       healthy(neverRun, syncing, kept(1)),
		"The first run is under way.":                           healthy(neverRun, syncing, kept(0)),
		sentence(stCoverageUnknown):                             healthy(neverRun, kept(1200)),
	} {
		if got := judge(t, in).ForwardStatement; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// numbersIn are the numbers of a text, without the one of an age in days.
var numbersIn = regexp.MustCompile(`[0-9][0-9,]*( days ago)?`)

// TestOutlineClaimsOnlyWhatEvidenceHolds judges unrestricted random inputs. The lines state the verdict's request,
// and no number or promise that the input does not contain.
func TestOutlineClaimsOnlyWhatEvidenceHolds(t *testing.T) {
	g := newGenerator(5)
	for i := range propertyRuns / 6 {
		in := g.input()
		v := Synthesize(in)
		if complaint := outlineByHand(in, v); complaint != "" {
			t.Fatalf("input %d: %s: %+v\n%s", i, complaint, v.Outline, asJSON(t, in))
		}
	}
}

// outlineByHand holds the lines to rules that are written here from the input's own fields.
func outlineByHand(in Input, v Verdict) string {
	o, p := v.Outline, in.Progress
	if o.Happened == "" || o.Next == "" || o.Means == "" && v.Pill.Tone != Green {
		return "a line is missing"
	}
	var known []string
	if p != nil {
		for _, n := range []*int64{p.RetainedRecords, p.RecordsCommittedLastRun} {
			if n != nil {
				known = append(known, text.Number(*n))
			}
		}
	}
	for _, number := range numbersIn.FindAllString(o.Happened+" "+o.Means, -1) {
		if !strings.HasSuffix(number, afterDays) && !slices.Contains(known, number) {
			return "a number that nobody measured: " + number
		}
	}
	byItself := in.Snapshot.Badges.Syncing || in.Snapshot.NextAttemptAt != nil || p != nil &&
		p.Mode == health.ModeLocalDevice
	announced := strings.Contains(o.Next, "The next update starts") || strings.Contains(o.Next, "continues automatically")
	if announced && !byItself {
		return "it continues automatically, and nothing would start it"
	}
	ended := in.Snapshot.Condition(health.CollectionSucceeded)
	if strings.Contains(o.Happened+v.ForwardStatement, "irst run ") &&
		(!in.Snapshot.Badges.Syncing || ended == nil || ended.Status != health.StatusUnknown) {
		return "a first run that is none"
	}
	if len(v.RequiredActions) == 0 || v.RequiredActions[0].Audience == AudienceNone {
		return ""
	}
	asks := v.RequiredActions[0].CTA + "."
	if o.Next != asks && (v.RequiredActions[0].Kind != RetryGap || v.Push()) {
		return "the next line is not what the verdict asks for: " + asks
	}
	return ""
}
