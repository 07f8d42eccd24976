package view

import (
	"strconv"
	"strings"

	"github.com/pdpp-go/pdpp/internal/judge/health"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
)

// readableName makes a name from the vocabulary readable.
func readableName(name string) string { return strings.ReplaceAll(name, "_", " ") }

func conditionRule(c *health.Condition) string {
	if !c.Current {
		return "evidence that is no longer current is shown and decides nothing"
	}
	switch {
	case c.Status == health.True:
		return "this holds"
	case c.Status == health.StatusUnknown:
		return "what was not measured counts neither as good nor as bad"
	case c.Severity == health.Info:
		return "this is for information and lowers nothing"
	default:
		return "this does not hold, with severity " + string(c.Severity) + " (" + c.Reason + ")"
	}
}

// The subject of each axis, and the rule that decides it.
var (
	axisFacts = map[string]string{
		"coverage":       "How much of what exists has been collected.",
		"freshness":      "How old the data is against the window that the connector declares.",
		"attention":      "Whether a question waits for the owner.",
		"outbox":         "The state of the uploads from the owner's devices.",
		"remote_surface": "The state of the browser on another host.",
	}
	axisRules = map[string]string{
		"coverage": "the worst required stream decides",
		"freshness": "older than the window, or a newer run that did not succeed, is stale; without a window it is " +
			"not known",
		"attention":      "the most urgent open question decides",
		"outbox":         "stalled comes before active before idle, over all trusted devices",
		"remote_surface": "the newest check that has not expired decides",
	}
)

func dispositionFact(s *health.Snapshot) string {
	fact := "Coverage is " + readableName(string(s.Axes.Coverage)) + ", freshness is " +
		readableName(string(s.Axes.Freshness))
	if s.Axes.Attention != health.AttentionNone {
		fact += ", and a question waits for the owner"
	}
	return fact + "."
}

// dispositionRules describe when each disposition applies.
var dispositionRules = map[health.Disposition]string{
	health.DispositionAwaitingOwner:   "something is missing and a question waits for the owner",
	health.DispositionTerminal:        "what is missing cannot be collected by any run",
	health.DispositionResumable:       "something is missing, and a later run may collect it",
	health.DispositionChecking:        "as long as coverage is not known, nothing is promised",
	health.DispositionOwnerRefreshDue: "the data is stale and only the owner refreshes it",
	health.DispositionComplete:        "nothing is missing",
}

func dispositionRule(d health.Disposition) string { return dispositionRules[d] }

func suppressedFact(k verdict.SuppressedKind) string {
	switch k {
	case verdict.SuppressedCooldown:
		return "The next attempt waits for its time."
	case verdict.SuppressedDrain:
		return "Missing items are being fetched by later runs."
	case verdict.SuppressedSyncing:
		return "A run is under way."
	case verdict.SuppressedRuntimeFault:
		return "The runtime that serves all connections is at fault."
	default:
		return "Something is handled without the owner: " + readableName(string(k)) + "."
	}
}

var audienceWords = map[verdict.Audience]string{
	verdict.AudienceOwner:      "for the owner",
	verdict.AudienceMaintainer: "for the maintainer of the connector",
	verdict.AudienceNone:       "no one: it continues automatically",
}

var contractWords = map[verdict.Contract]string{
	verdict.CredentialPresent:    "a credential is stored and not rejected",
	verdict.ScheduleAttached:     "the schedule is on",
	verdict.AttentionResolved:    "its cause is gone",
	verdict.ConfirmingRun:        "a run succeeds",
	verdict.GapRecovered:         "what is missing has been fetched",
	verdict.BackfillCovered:      "the older data has been fetched",
	verdict.NothingSatisfiesThis: "nothing that the owner does",
}

func actionRule(a *verdict.RequiredAction) string {
	return audienceWords[a.Audience] + ", " + string(a.Urgency) + "; done when: " + contractWords[a.SatisfiedWhen.Kind]
}

// countedNoun returns a number with its noun.
func countedNoun(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.FormatInt(n, 10) + " " + noun + "s"
}

// durationWords returns seconds in the largest unit that fits.
func durationWords(seconds int64) string {
	for _, u := range []struct {
		size int64
		name string
	}{{86400, "day"}, {3600, "hour"}, {60, "minute"}} {
		if seconds >= u.size && seconds%u.size == 0 {
			return countedNoun(seconds/u.size, u.name)
		}
	}
	return countedNoun(seconds, "second")
}
