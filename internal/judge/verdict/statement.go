package verdict

import "github.com/pdpp-go/pdpp/internal/judge/health"

// forwardStatement says what comes next. It follows from the disposition and
// the primary action, and from the axes only where there is no action.
func forwardStatement(r *reading, actions []RequiredAction) string {
	if len(actions) == 0 || actions[0].Audience == AudienceNone {
		if r.unreliable {
			return unreadSentence(r.in.Snapshot.UnknownReasons)
		}
		if r.terminal() {
			return say(stTerminal)
		}
		if r.state() == health.Blocked {
			return say(stBlocked)
		}
	}
	if len(actions) == 0 && r.firstRun() {
		return keptAnd(r, stFirstUnderWay, afterKeptGoesOn)
	}
	if totals := r.reportedTotals(); totals != nil && !r.brokeProtocol() && promisesMore(actions) {
		return totalsSentence(totals)
	}
	if len(actions) == 0 {
		return say(restingStatement(r))
	}
	primary := &actions[0]
	if primary.Remediation != nil {
		return primary.Remediation.Summary
	}
	if r.terminal() {
		return say(terminalStatement(r, primary))
	}
	return say(actionStatement(r, primary))
}

// promisesMore reports whether the statement would be about data that another run collects.
func promisesMore(actions []RequiredAction) bool {
	return len(actions) == 0 || actions[0].Kind == WaitAction || actions[0].Kind == RetryGap
}

// actionStatement says what doing the primary action achieves, or what happens
// by itself when it is nobody's to do.
func actionStatement(r *reading, primary *RequiredAction) line {
	device := r.mode() == health.ModeLocalDevice
	switch primary.Kind {
	case Reauth:
		return either(r.credential == nil, stReauthAhead, either(r.in.SignsIn, stSignIn, stReauth))
	case AddInfo:
		if primary.SatisfiedWhen.Kind == ConfirmingRun {
			return either(r.noDevice(), stNoDevice, either(r.doubled(), stDoubled, stRuntime))
		}
		return either(r.signIn(), stSignIn, stAnswer)
	case ReattachSchedule:
		return stReattach
	case RefreshNow:
		if r.neverRun() {
			return stFirstRun
		}
		return either(device, stRefreshDevice, either(r.mustWait(), stWaitsForSource, stRefresh))
	case RetryGap:
		if r.brokeProtocol() {
			return stRetryUpdated
		}
		return either(device, stRetryDevice, either(r.mustWait(), stWaitsForSource, stRetry))
	case CodeFix:
		return stCodeFix
	default:
		return waitStatement(r)
	}
}

func waitStatement(r *reading) line {
	switch {
	case r.syncing && r.resumable():
		return stRunUnderWay
	case r.mustWait() && !r.goesOnAfterwards():
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

// terminalStatement promises nothing: what is missing needs a change of code.
func terminalStatement(r *reading, primary *RequiredAction) line {
	switch {
	case primary.Kind == Reauth:
		return either(r.in.SignsIn, stTerminalSignIn, stTerminalReauth)
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

// restingStatement is for a connection that asks nothing of anybody. Only the
// last case but one claims that all is well.
func restingStatement(r *reading) line {
	switch r.disposition {
	case health.DispositionChecking:
		return stCoverageUnknown
	case health.DispositionOwnerRefreshDue:
		return either(r.syncing, stRefreshRuns, stStale)
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
		return either(r.active, stStaleScheduled, stStale)
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
	case r.goesOn():
		return stNormal
	default:
		return stLastRunOnly
	}
}

// goesOn reports whether collection continues by itself, as far as is known.
func (r *reading) goesOn() bool {
	unattended := r.in.Schedule == nil || r.active || r.mode() == health.ModeLocalDevice
	return r.in.RuntimeOK && unattended
}

// goesOnAfterwards reports whether a run starts by itself once the source may be
// asked again.
func (r *reading) goesOnAfterwards() bool { return r.in.Snapshot.NextAttemptAt != nil }

func either(yes bool, a, b line) line {
	if yes {
		return a
	}
	return b
}
