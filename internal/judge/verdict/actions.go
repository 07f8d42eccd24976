package verdict

import (
	"slices"

	"github.com/pdpp-go/pdpp/internal/judge/health"
)

// actionRule is one row of actionRules.
type actionRule struct {
	Name      string
	When      string
	Kind      ActionKind
	Audience  Audience
	Urgency   Urgency
	Satisfied Contract
	// Unread means that the rule holds even if evidence could not be read, because it depends on evidence that was.
	Unread bool

	holds   func(r *reading, before []RequiredAction) bool
	affects func(*reading) []string
	cta     func(*reading) string
}

// Rules with actions that need more than their row.
const (
	ruleRecovery = "recovery"
	ruleAnswer   = "answer"
)

// actionRules are evaluated in this order, and each matching rule adds an action. Actions of equal urgency stay in
// this order.
var actionRules = [...]actionRule{
	{ruleRecovery, "the uploads of a device are stalled",
		AddInfo, AudienceOwner, Now, AttentionResolved, true,
		func(r *reading, _ []RequiredAction) bool { return r.stalled }, everyRequired, ctaRecovery},
	{"reauth", "the credential currently fails",
		Reauth, AudienceOwner, Now, CredentialPresent, true,
		func(r *reading, _ []RequiredAction) bool { return r.credential != nil }, everyRequired, ctaReauth},
	{"reauth_last_days", "the sign-in ends within days and cannot be extended, and the credential does not fail",
		Reauth, AudienceOwner, Now, CredentialPresent, false,
		func(r *reading, _ []RequiredAction) bool {
			return r.credential == nil && r.ending != nil && r.ending.Reason == health.ReasonCredentialLastDays
		}, everyRequired, ctaAhead},
	{ruleAnswer, "a question waits for the owner, and the credential does not fail",
		AddInfo, AudienceOwner, Now, AttentionResolved, true,
		func(r *reading, _ []RequiredAction) bool {
			return r.asked && r.credential == nil && r.supported(health.AttentionClear)
		}, awaitingStreams, ctaAnswer},
	{"runtime_missing", "the installation lacks what the connector cannot run without",
		AddInfo, AudienceOwner, Now, ConfirmingRun, true,
		func(r *reading, _ []RequiredAction) bool { return r.runtimeLacking(true) }, everyRequired, ctaRuntime},
	{"runtime_failed", "what the connector runs on failed",
		AddInfo, AudienceOwner, Soon, ConfirmingRun, true,
		func(r *reading, _ []RequiredAction) bool { return r.runtimeLacking(false) }, everyRequired, ctaRuntime},
	{"code_fix", "data is missing that no run can collect, and the credential does not fail",
		CodeFix, AudienceMaintainer, Soon, NothingSatisfiesThis, true,
		func(r *reading, _ []RequiredAction) bool {
			return r.terminal() && r.credential == nil && r.supported(health.SourceCoverageComplete)
		}, terminalStreams, ctaCodeFix},
	{"retry_stale_gap", "data is missing that a run can collect, what is there is stale, and nothing above holds",
		RetryGap, AudienceOwner, Verifying, GapRecovered, false,
		func(r *reading, before []RequiredAction) bool {
			return len(before) == 0 && r.resumable() && r.stale() && !r.syncing && (!r.paused || r.state() == health.Degraded)
		}, resumableStreams, ctaRetry},
	{"reattach_schedule", "the schedule is off, a run once succeeded, and nothing above holds",
		ReattachSchedule, AudienceOwner, Soon, ScheduleAttached, false,
		func(r *reading, before []RequiredAction) bool {
			return len(before) == 0 && r.paused && r.in.Schedule.HasPriorSuccess
		}, everyRequired, ctaReattach},
	{"reauth_ahead", "the sign-in ends soon and cannot be extended, and nothing above holds",
		Reauth, AudienceOwner, Soon, CredentialPresent, false,
		func(r *reading, before []RequiredAction) bool {
			return len(before) == 0 && r.credential == nil && r.ending != nil
		}, everyRequired, ctaAhead},
	{"refresh_due", "only the owner refreshes the source, the data is stale, and a run can help",
		RefreshNow, AudienceOwner, Soon, ConfirmingRun, false,
		func(r *reading, before []RequiredAction) bool {
			return r.refreshDue() && !r.terminal() && !r.paused && !r.syncing && !hasAction(before, RetryGap)
		}, everyRequired, ctaRefresh},
	{"refresh_unattended", "a run would fix the connection, no schedule starts one, and nothing above holds",
		RefreshNow, AudienceOwner, Soon, ConfirmingRun, false,
		func(r *reading, before []RequiredAction) bool { return len(before) == 0 && r.fixableByRun() }, everyRequired,
		ctaRefresh},
	{"first_run", "nothing was ever collected, no schedule starts a run, and nothing above holds",
		RefreshNow, AudienceOwner, Soon, ConfirmingRun, false,
		func(r *reading, before []RequiredAction) bool { return len(before) == 0 && r.neverRun() }, everyRequired, ctaFirst},
	{"retry_gap", "data is missing that a run can collect, none is on its way, the source may be asked, and nothing " +
		"above holds",
		RetryGap, AudienceOwner, Verifying, GapRecovered, false,
		func(r *reading, before []RequiredAction) bool {
			return len(before) == 0 && r.resumable() && !r.selfHandled() && !r.mustWait()
		}, resumableStreams, ctaRetry},
	{"wait_for_run", "data is missing that a run on its way collects, or the source is not to be asked yet, and nothing " +
		"above holds",
		WaitAction, AudienceNone, Verifying, NothingSatisfiesThis, false,
		func(r *reading, before []RequiredAction) bool {
			return len(before) == 0 && r.resumable() && (r.selfHandled() || r.mustWait())
		}, resumableStreams, ctaWait},
	{"wait_out_pause", "nothing is missing, the next run starts after a pause, and nothing above holds",
		WaitAction, AudienceNone, Verifying, NothingSatisfiesThis, false,
		func(r *reading, before []RequiredAction) bool {
			return len(before) == 0 && r.state() == health.CoolingOff && r.disposition == health.DispositionComplete
		}, everyRequired, ctaWait},
}

// requiredActions evaluates every rule and sorts the actions by urgency.
func requiredActions(r *reading) []RequiredAction {
	actions := []RequiredAction{}
	for i := range actionRules {
		rule := &actionRules[i]
		if r.unreliable && !rule.Unread || !rule.holds(r, actions) {
			continue
		}
		a := RequiredAction{
			Kind: rule.Kind, Audience: rule.Audience, Urgency: rule.Urgency, Affects: rule.affects(r), CTA: rule.cta(r),
			Terminal: r.terminal(), SatisfiedWhen: Satisfaction{rule.Satisfied},
		}
		switch rule.Name {
		case ruleRecovery:
			a.Remediation = remediation(r)
		case ruleAnswer:
			// If only some streams wait for the answer, they are the action's scope.
			a.Terminal = r.terminal() && !r.anyRequired(health.DispositionAwaitingOwner)
		}
		actions = append(actions, a)
	}
	sortByUrgency(actions)
	return actions
}

// sortByUrgency puts the most urgent first and keeps the order of equals.
func sortByUrgency(actions []RequiredAction) {
	slices.SortStableFunc(actions,
		func(a, b RequiredAction) int { return urgencyRank(a.Urgency) - urgencyRank(b.Urgency) })
}

var urgencyOrder = [...]Urgency{Now, Overdue, Soon, Verifying}

func urgencyRank(u Urgency) int { return slices.Index(urgencyOrder[:], u) }

func hasAction(actions []RequiredAction, k ActionKind) bool {
	return slices.ContainsFunc(actions, func(a RequiredAction) bool { return a.Kind == k })
}
