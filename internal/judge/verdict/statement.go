package verdict

import "github.com/pdpp-go/pdpp/internal/judge/health"

// forwardStatement returns what comes next. It follows from the disposition and the primary action, and from the axes
// only if there is no action.
func forwardStatement(r *reading, actions []RequiredAction) string {
	if len(actions) == 0 || actions[0].Audience == AudienceNone {
		if r.unreliable {
			return unreadSentence(r.in.Snapshot.UnknownReasons)
		}
		if r.terminal() {
			return sentence(stTerminal)
		}
		if r.state() == health.Blocked {
			return sentence(stBlocked)
		}
	}
	if len(actions) == 0 && r.firstRun() {
		return storedAnd(r, stFirstUnderWay, afterKeptGoesOn)
	}
	if totals := r.reportedTotals(); totals != nil && !r.brokeProtocol() && promisesMore(actions) {
		return totalsSentence(totals)
	}
	if len(actions) == 0 {
		return sentence(restingStatement(r))
	}
	primary := &actions[0]
	if primary.Remediation != nil {
		return primary.Remediation.Summary
	}
	if r.terminal() {
		return sentence(terminalStatement(r, primary))
	}
	return sentence(actionStatement(r, primary))
}

// promisesMore reports whether the statement would be about data that another run collects.
func promisesMore(actions []RequiredAction) bool {
	return len(actions) == 0 || actions[0].Kind == WaitAction || actions[0].Kind == RetryGap
}

// actionStatement returns the effect of the primary action, or what happens without the owner.
func actionStatement(r *reading, primary *RequiredAction) sentenceID {
	device := r.mode() == health.ModeLocalDevice
	switch primary.Kind {
	case Reauth:
		return choose(r.credential == nil, stReauthAhead, choose(r.in.SignsIn, stSignIn, stReauth))
	case AddInfo:
		if primary.SatisfiedWhen.Kind == ConfirmingRun {
			return choose(r.noDevice(), stNoDevice, choose(r.doubled(), stDoubled, stRuntime))
		}
		return choose(r.signIn(), stSignIn, stAnswer)
	case ReattachSchedule:
		return stReattach
	case RefreshNow:
		if r.neverRun() {
			return stFirstRun
		}
		return choose(device, stRefreshDevice, choose(r.mustWait(), stWaitsForSource, stRefresh))
	case RetryGap:
		if r.brokeProtocol() {
			return stRetryUpdated
		}
		return choose(device, stRetryDevice, choose(r.mustWait(), stWaitsForSource, stRetry))
	case CodeFix:
		return stCodeFix
	default:
		return waitStatement(r)
	}
}

func waitStatement(r *reading) sentenceID {
	switch {
	case r.syncing && r.resumable():
		return stRunUnderWay
	case r.mustWait() && !r.continuesAfterWait():
		return stWaitsForSource
	case r.underPressure() && r.resumable():
		return stPressureContinues
	case r.resumable():
		return stNextRun
	case r.underPressure():
		return stPressurePause
	default:
		return stPause
	}
}

// terminalStatement promises nothing: the missing data needs a change of code.
func terminalStatement(r *reading, primary *RequiredAction) sentenceID {
	switch {
	case primary.Kind == Reauth:
		return choose(r.in.SignsIn, stTerminalSignIn, stTerminalReauth)
	case primary.Kind == AddInfo && primary.SatisfiedWhen.Kind == ConfirmingRun:
		return stTerminalRuntime
	case primary.Kind == AddInfo:
		return stTerminalAnswer
	case primary.Kind == CodeFix:
		return stCodeFix
	default:
		return stTerminal
	}
}

// restingStatement is for a connection without actions. Only its last case but one states that all is well.
func restingStatement(r *reading) sentenceID {
	switch r.disposition {
	case health.DispositionChecking:
		return stCoverageUnknown
	case health.DispositionOwnerRefreshDue:
		return choose(r.syncing, stRefreshRuns, stStale)
	case health.DispositionAwaitingOwner:
		return stAwaitingOwner
	case health.DispositionResumable:
		return stPartMissing
	}
	switch {
	case toneOf(axisState, string(r.state())) == Grey:
		return stUnknown
	case r.stale():
		if r.syncing {
			return stRefreshRuns
		}
		return choose(r.active, stStaleScheduled, stStale)
	case !r.fresh():
		return stFreshnessUnknown
	case r.tone == Grey:
		return stUnknown
	case r.tone != Green:
		return stOtherwise
	case r.in.Snapshot.Axes.Outbox == health.OutboxActive:
		return stUploading
	case r.paused:
		return stPaused
	case r.continuesUnattended():
		return stNormal
	default:
		return stLastRunOnly
	}
}

// continuesUnattended reports whether collection continues without the owner, as far as is known.
func (r *reading) continuesUnattended() bool {
	unattended := r.in.Schedule == nil || r.active || r.mode() == health.ModeLocalDevice
	return r.in.RuntimeOK && unattended
}

// continuesAfterWait reports whether a run starts without the owner once the source may be asked again.
func (r *reading) continuesAfterWait() bool { return r.in.Snapshot.NextAttemptAt != nil }

func choose(yes bool, a, b sentenceID) sentenceID {
	if yes {
		return a
	}
	return b
}
