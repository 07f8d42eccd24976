package verdict

import "github.com/pdpp-go/pdpp/internal/judge/health"

func ctaRecovery(r *reading) string { return sentence(recoveries[recoveryOf(&r.in.Snapshot)].Label) }

func ctaReauth(r *reading) string {
	if r.in.SignsIn {
		return sentence(ctaSignIn)
	}
	return sentence(choose(r.credential.Reason == "credential_required", ctaAddCredential, ctaReconnect))
}

// ctaAhead asks for a new sign-in before the current one ends.
func ctaAhead(*reading) string { return sentence(ctaSignInAhead) }

// questionCTAs maps the reason of a question to its label.
var questionCTAs = [...]struct {
	Reason health.Text
	CTA    sentenceID
}{
	{"credentials_required", ctaGiveCredential},
	{"otp_required", ctaEnterCode},
	{"manual_action_required", ctaManualStep},
}

func ctaAnswer(r *reading) string {
	if r.signIn() {
		return sentence(ctaSignIn)
	}
	if next := r.in.Snapshot.NextAction; next != nil {
		for _, q := range questionCTAs {
			if q.Reason == next.ReasonCode {
				return sentence(q.CTA)
			}
		}
	}
	axis := r.in.Snapshot.Axes.Attention
	return sentence(choose(axis == health.AttentionAcknowledged || axis == health.AttentionInProgress, ctaFinishOpen,
		ctaAnswerOpen))
}

// signIn reports whether a run waits for the owner's sign-in.
func (r *reading) signIn() bool {
	next := r.in.Snapshot.NextAction
	return r.in.SignsIn && next != nil && next.ReasonCode == "manual_action_required"
}

// ctaRuntime returns the condition's own remedy: only the condition knows what is missing.
func ctaRuntime(r *reading) string {
	if m := r.runtime.Remediation; m != nil && m.Label != "" {
		return m.Label
	}
	return sentence(ctaInstall)
}

func ctaCodeFix(*reading) string  { return sentence(ctaNeedsCode) }
func ctaReattach(*reading) string { return sentence(ctaScheduleOn) }

// protocolViolation is the reason of a run that ended because its connector violated the protocol. The same connector
// would most likely do so again.
const protocolViolation = "connector_protocol_violation"

func (r *reading) brokeProtocol() bool {
	if r.hasRejected() {
		return true
	}
	c := failing(&r.in.Snapshot, health.CollectionSucceeded)
	return c != nil && c.Reason == protocolViolation && r.mode() != health.ModeLocalDevice
}

func ctaRetry(r *reading) string {
	if r.brokeProtocol() {
		return sentence(ctaUpdateFirst)
	}
	return sentence(choose(r.mode() == health.ModeLocalDevice, ctaRunCollector,
		choose(r.mustWait(), ctaRetryLater, ctaRetryNow)))
}

func ctaRefresh(r *reading) string {
	if r.brokeProtocol() {
		return sentence(ctaUpdateFirst)
	}
	return sentence(choose(r.mode() == health.ModeLocalDevice, ctaRunCollector,
		choose(r.mustWait(), ctaRefreshLater, ctaRefreshNow)))
}

func ctaFirst(*reading) string { return sentence(ctaFirstRun) }

func ctaWait(r *reading) string {
	switch {
	case r.syncing:
		return sentence(ctaRunning)
	case r.mustWait() && !r.continuesAfterWait():
		return sentence(ctaAfterPause)
	case r.resumable():
		return sentence(choose(r.reportedTotals() != nil, ctaStartsItself, ctaContinues))
	default:
		return sentence(ctaPausing)
	}
}
