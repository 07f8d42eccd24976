package verdict

// sentenceID identifies a sentence. All texts for the owner are in sentences.go; other files decide when to show them.
type sentenceID int

func sentence(l sentenceID) string { return sentences[l] }

// Forward statements: what comes next, in one sentence.
const (
	stNormal sentenceID = iota
	stLastRunOnly
	stReauth
	stReauthAhead
	stSignIn
	stAnswer
	stRuntime
	stNoDevice
	stDoubled
	stReattach
	stRefresh
	stRefreshDevice
	stFirstRun
	stFirstUnderWay
	stRetry
	stRetryDevice
	stRetryUpdated
	stRunUnderWay
	stNextRun
	stPause
	stPressurePause
	stPressureContinues
	stWaitsForSource
	stCodeFix
	stTerminal
	stTerminalReauth
	stTerminalSignIn
	stTerminalAnswer
	stTerminalRuntime
	stBlocked
	stUnknown
	stCoverageUnknown
	stFreshnessUnknown
	stRefreshRuns
	stStale
	stStaleScheduled
	stAwaitingOwner
	stUploading
	stPaused
	stOtherwise
	stTotals
	stPartMissing

	// What the owner is asked to do, and the text in place of a button.
	ctaReconnect
	ctaSignInAhead
	ctaAddCredential
	ctaSignIn
	ctaAnswerOpen
	ctaFinishOpen
	ctaGiveCredential
	ctaEnterCode
	ctaManualStep
	ctaInstall
	ctaUploadFailed
	ctaRunCollector
	ctaCheckCollector
	ctaScheduleOn
	ctaRefreshNow
	ctaRefreshLater
	ctaFirstRun
	ctaRetryNow
	ctaRetryLater
	ctaUpdateFirst
	ctaNeedsCode
	ctaRunning
	ctaContinues
	ctaStartsItself
	ctaPausing
	ctaAfterPause

	// Stalled devices.
	sumUploadFailed
	sumUploadFailedTerminal
	sumStateRead
	sumStateReadTerminal
	sumStalePending
	sumStalePendingTerminal
	sumStalled
	sumStalledTerminal
	labelRun
	purposeRun
	labelPreview
	purposePreview
	labelApply
	purposeApply
	labelDoctor
	purposeDoctor

	// Notes beside the pill.
	noteFreshnessUnknown
	noteRefreshTimeUnknown
	noteRunUnderWay
	noteUploading
	noteSchedulePaused
	noteAnswer
	noteStalled
	noteMissing

	// Streams.
	rowComplete
	rowCompleteReported
	rowAsOfRefresh
	rowAsOfRefreshReported
	rowDeferred
	rowInventory
	rowUnknown
	rowFirstRun
	rowNothing
	rowNothingOnItsWay
	rowMissing
	rowMissingOnItsWay
	rowNotReached
	rowAbsent
	rowAwaiting
	rowTerminalGap
	rowUnsupported
	rowUnavailable
	rowAccepted
	rowInventoryAccepted
	rowUnsupportedAccepted
	rowUnavailableAccepted

	// Progress without a number.
	progressUnknown
	progressNoneHeld
	progressNothingNew

	// The three lines: what happened, what it means, what next.
	hapStalled
	hapCredentialMissing
	hapCredentialNarrow
	hapCredentialRefused
	hapSignIn
	hapAsked
	hapRuntime
	hapFirstRun
	hapRunUnderWay
	hapGaveUp
	hapRunFailed
	hapPressure
	hapPause
	hapTerminal
	hapLeftForLater
	hapDeviceDone
	hapDeviceSilent
	hapNeverRun
	hapRunSucceeded
	meansUnread
	meansStalled
	meansStopped
	meansFirstRun
	meansTerminal
	meansPartMissing
	meansTotals
	meansNothingYet
	meansNotCounted
	meansStale
	nextReadAgain
	nextGoesOn
	nextFirstRun
	nextNothing
	nextDevice
	nextScheduleOff
	nextByOwner
	lineCount
)
