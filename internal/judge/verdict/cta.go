package verdict

import "github.com/pdpp-go/pdpp/internal/judge/health"

func ctaRecovery(r *reading) string { return say(recoveries[recoveryOf(&r.in.Snapshot)].Label) }

func ctaReauth(r *reading) string {
	if r.in.SignsIn {
		return say(ctaSignIn)
	}
	return say(either(r.credential.Reason == "credential_required", ctaAddCredential, ctaReconnect))
}

// ctaAhead asks for what would otherwise be missing soon.
func ctaAhead(*reading) string { return say(ctaSignInAhead) }

// questionCTAs name what a question asks for.
var questionCTAs = [...]struct {
	Reason health.Text
	CTA    line
}{
	{"credentials_required", ctaGiveCredential},
	{"otp_required", ctaEnterCode},
	{"manual_action_required", ctaManualStep},
}

func ctaAnswer(r *reading) string {
	if r.signIn() {
		return say(ctaSignIn)
	}
	if next := r.in.Snapshot.NextAction; next != nil {
		for _, q := range questionCTAs {
			if q.Reason == next.ReasonCode {
				return say(q.CTA)
			}
		}
	}
	axis := r.in.Snapshot.Axes.Attention
	return say(either(axis == health.AttentionAcknowledged || axis == health.AttentionInProgress, ctaFinishOpen, ctaAnswerOpen))
}

// signIn reports whether what a run waits for is that the owner signs in.
func (r *reading) signIn() bool {
	next := r.in.Snapshot.NextAction
	return r.in.SignsIn && next != nil && next.ReasonCode == "manual_action_required"
}

// ctaRuntime repeats the fix that the condition names: only the condition
// knows what is missing.
func ctaRuntime(r *reading) string {
	if m := r.runtime.Remediation; m != nil && m.Label != "" {
		return m.Label
	}
	return say(ctaInstall)
}

func ctaCodeFix(*reading) string  { return say(ctaNeedsCode) }
func ctaReattach(*reading) string { return say(ctaScheduleOn) }

// violated is the reason of a run whose connector broke the protocol. The same connector
// would most likely do so again.
const violated = "connector_protocol_violation"

func (r *reading) brokeProtocol() bool {
	if r.rejects() {
		return true
	}
	c := failing(&r.in.Snapshot, health.CollectionSucceeded)
	return c != nil && c.Reason == violated && r.mode() != health.ModeLocalDevice
}

func ctaRetry(r *reading) string {
	if r.brokeProtocol() {
		return say(ctaUpdateFirst)
	}
	return say(either(r.mode() == health.ModeLocalDevice, ctaRunCollector, either(r.mustWait(), ctaRetryLater, ctaRetryNow)))
}

func ctaRefresh(r *reading) string {
	if r.brokeProtocol() {
		return say(ctaUpdateFirst)
	}
	return say(either(r.mode() == health.ModeLocalDevice, ctaRunCollector, either(r.mustWait(), ctaRefreshLater, ctaRefreshNow)))
}

func ctaFirst(*reading) string { return say(ctaFirstRun) }

func ctaWait(r *reading) string {
	switch {
	case r.syncing:
		return say(ctaRunning)
	case r.mustWait() && !r.goesOnAfterwards():
		return say(ctaAfterPause)
	case r.resumable():
		return say(either(r.reportedTotals() != nil, ctaStartsItself, ctaContinues))
	default:
		return say(ctaPausing)
	}
}
