package verdict

import "pdpp/internal/judge/evidence"

// line names a sentence. Every word that the owner reads is in this file; what
// to say when is decided elsewhere.
type line int

func say(l line) string { return lines[l] }

// Forward statements: what comes next, in one sentence.
const (
	stNormal line = iota
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

	// What the owner is asked to do, and what is said instead of a button.
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
	rowCompleteAsTold
	rowAsOfRefresh
	rowAsOfRefreshAsTold
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

var lines = [lineCount]string{
	stNormal:            "Up to date and collecting normally.",
	stLastRunOnly:       "Everything is here as of the last run.",
	stReauth:            "Reconnect and collection starts again.",
	stReauthAhead:       "Sign in again before the sign-in ends, and collection goes on without a break.",
	stSignIn:            "Sign in and collection starts again.",
	stAnswer:            "Answer the open request and collection starts again.",
	stDoubled:           "Two computers use the access of one device; revoke it and connect the one that is yours anew.",
	stNoDevice:          "No device collects this; connect one and it goes on where it stopped.",
	stRuntime:           "Collection starts again once this installation has what the connector needs.",
	stReattach:          "Turn the schedule on and this source is collected by itself again.",
	stRefresh:           "Refresh now and the newest data of this source is collected.",
	stRefreshDevice:     "Run the collector on the host that holds the data and its newest data is collected.",
	stFirstRun:          "Run it once and the data of this source is collected.",
	stFirstUnderWay:     "The first run is under way.",
	stRetry:             "Retry now and the missing data gets another run.",
	stRetryDevice:       "Run the collector on the host that holds the data and the missing data gets another run.",
	stRetryUpdated:      "The connector broke the protocol, and an updated one gets the missing data by another run.",
	stRunUnderWay:       "A run is under way that is expected to collect what is missing.",
	stNextRun:           "The next run is expected to collect what is missing.",
	stPause:             "The next run starts after a pause.",
	stPressurePause:     "The source asked for a slower pace, so the next run starts after a pause.",
	stPressureContinues: "The source asked for a slower pace, so the next run collects what is missing after a pause.",
	stWaitsForSource:    "The source asked for a pause, and can be asked again after it.",
	stCodeFix:           "The connector needs a code fix before this source can collect again.",
	stTerminal:          "Part of this source cannot be collected.",
	stTerminalReauth:    "Reconnecting lets the connector reach the source, and part of the data still needs a code fix.",
	stTerminalSignIn:    "Signing in lets the connector reach the source, and part of the data still needs a code fix.",
	stTerminalAnswer:    "Answering the open request clears the way for the connector, and part of the data still needs a code fix.",
	stTerminalRuntime:   "With what it lacks on this installation the connector can start, and part of the data still needs a code fix.",
	stBlocked:           "This source cannot be collected at present.",
	stUnknown:           "How collection stands is not known yet.",
	stCoverageUnknown:   "How much of this source has been collected is not known yet.",
	stFreshnessUnknown:  "How recent the data is has not been established yet.",
	stRefreshRuns:       "A refresh is under way.",
	stStale:             "The data is older than planned.",
	stStaleScheduled:    "The data is older than planned, and the schedule starts the next run.",
	stAwaitingOwner:     "This connection waits for an answer from you.",
	stUploading:         "The device is uploading the records that it has saved.",
	stPaused:            "The schedule is off, so this source is not collected by itself.",
	stOtherwise:         "Part of this connection is not as it should be, and its details name the cause.",
	stTotals:            "The source reports more items than it listed.",
	stPartMissing:       "Part of the data is missing.",

	ctaReconnect:      "Reconnect with a new credential",
	ctaSignInAhead:    "Sign in again before the sign-in ends",
	ctaAddCredential:  "Add the credential that this source asks for",
	ctaSignIn:         "Sign in",
	ctaAnswerOpen:     "Answer the open request",
	ctaFinishOpen:     "Finish the open request",
	ctaGiveCredential: "Enter the credential that the run asks for",
	ctaEnterCode:      "Enter the code that the source sent you",
	ctaManualStep:     "Finish the step that the source asks for",
	ctaInstall:        "Set up what the connector needs on this installation",
	ctaUploadFailed:   "Send the records saved on the host that did not upload to the server",
	ctaRunCollector:   "Run the collector again on the host that holds the data",
	ctaCheckCollector: "Check the collector on the host that holds the data",
	ctaScheduleOn:     "Turn the schedule on",
	ctaRefreshNow:     "Refresh now",
	ctaRefreshLater:   "Refresh after the source's pause",
	ctaFirstRun:       "Run it now",
	ctaRetryNow:       "Retry now",
	ctaRetryLater:     "Retry after the source's pause",
	ctaUpdateFirst:    "Update the connector or report its fault, then retry",
	ctaNeedsCode:      "The connector needs a code fix before this source can collect again",
	ctaRunning:        "A run is under way",
	ctaContinues:      "The next run continues by itself",
	ctaStartsItself:   "The next run starts by itself",
	ctaPausing:        "The next run starts after a pause",
	ctaAfterPause:     "The source can be asked again after its pause",

	sumUploadFailed:         "Records saved on the host that holds the data did not upload to the server, and the recovery steps there send them again.",
	sumUploadFailedTerminal: "Records saved on the host that holds the data did not upload to the server, and the connector needs a code fix before this source can collect again.",
	sumStateRead:            "The collector on the host that holds the data could not read its earlier state, and running it again there lets it upload.",
	sumStateReadTerminal:    "The collector on the host that holds the data could not read its earlier state, and the connector needs a code fix before this source can collect again.",
	sumStalePending:         "Records saved on the host that holds the data stopped uploading, and running the collector there sends them.",
	sumStalePendingTerminal: "Records saved on the host that holds the data stopped uploading, and the connector needs a code fix before this source can collect again.",
	sumStalled:              "The collector on the host that holds the data stopped uploading, and checking it there names the cause.",
	sumStalledTerminal:      "The collector on the host that holds the data stopped uploading, and the connector needs a code fix before this source can collect again.",
	labelRun:                "Run the collector",
	purposeRun:              "Runs the collector once on the host and uploads what waits there.",
	labelPreview:            "Show what waits",
	purposePreview:          "Shows which saved records would be sent, and changes nothing.",
	labelApply:              "Send what waits",
	purposeApply:            "Puts the failed uploads back in line and runs the collector once.",
	labelDoctor:             "Check the collector",
	purposeDoctor:           "Tells what keeps the collector from uploading, and changes nothing.",

	noteFreshnessUnknown:   "Freshness not known yet",
	noteRefreshTimeUnknown: "Last successful refresh: time not known",
	noteRunUnderWay:        "A run is under way",
	noteUploading:          "The device is uploading saved records",
	noteSchedulePaused:     "The schedule is off",
	noteAnswer:             "A request waits for your answer",
	noteStalled:            "Saved records are not uploading",
	noteMissing:            "Some data is missing",

	rowComplete:            "Collected.",
	rowCompleteAsTold:      "Collected, " + evidence.ReportedByConnector + ".",
	rowAsOfRefresh:         "Collected as of the last refresh.",
	rowAsOfRefreshAsTold:   "Collected as of the last refresh, " + evidence.ReportedByConnector + ".",
	rowDeferred:            "Left for later on purpose.",
	rowInventory:           "Listed and not collected, on purpose.",
	rowUnknown:             "Not measured yet.",
	rowFirstRun:            "The first run is under way.",
	rowNothing:             "Nothing is collected yet.",
	rowNothingOnItsWay:     "Nothing is collected yet, and a run is expected to collect it.",
	rowMissing:             "Some items are missing.",
	rowMissingOnItsWay:     "Some items are missing, and a run is expected to collect them.",
	rowNotReached:          "The last run stopped before it got to this.",
	rowAbsent:              "The source holds none of this, or no more of it.",
	rowAwaiting:            "Some items are missing and wait for your answer.",
	rowTerminalGap:         "Some items cannot be collected by this version of the connector.",
	rowUnsupported:         "The connector cannot collect this.",
	rowUnavailable:         "The source does not provide this.",
	rowAccepted:            "Not collected, which is accepted here.",
	rowInventoryAccepted:   "Listed and not collected, which is accepted here.",
	rowUnsupportedAccepted: "The connector cannot collect this, which is accepted here.",
	rowUnavailableAccepted: "The source does not provide this, which is accepted here.",

	progressUnknown:    "Progress not measured yet",
	progressNoneHeld:   "No records held yet",
	progressNothingNew: "The last run found no new records",

	hapStalled:           "Records saved on the host that holds the data stopped uploading.",
	hapCredentialMissing: "The credential that this source asks for is not stored.",
	hapCredentialNarrow:  "The source accepts the credential and keeps part of the data from it.",
	hapCredentialRefused: "The source refused the credential.",
	hapSignIn:            "The source asks you to sign in.",
	hapAsked:             "A run asks you for something and waits.",
	hapRuntime:           "The installation lacks something that the connector needs.",
	hapFirstRun:          "The first run is under way.",
	hapRunUnderWay:       "A run is under way.",
	hapGaveUp:            "The same failure came back again and again, so no further attempt is made.",
	hapRunFailed:         "The last run did not succeed.",
	hapPressure:          "The source asked for a slower pace.",
	hapPause:             "The next run is put off after earlier failures.",
	hapTerminal:          "The last run met data that this version of the connector cannot collect.",
	hapLeftForLater:      "The last run left something for a later one.",
	hapDeviceDone:        "The device reported in and has nothing left to upload.",
	hapDeviceSilent:      "The device has not told how its uploads stand.",
	hapNeverRun:          "Connected, and no run has ended yet.",
	hapRunSucceeded:      "The last run succeeded.",
	meansUnread:          "What is kept stays as it is.",
	meansStalled:         "What was saved there is safe there, and is not here yet.",
	meansStopped:         "Nothing comes in until this is mended.",
	meansFirstRun:        "What arrives is kept and can be read at once.",
	meansTerminal:        "That part stays missing, and the rest is kept.",
	meansTotals:          "Part of the data may be missing, and nothing that was collected is lost.",
	meansPartMissing:     "Part of the data is still missing, and nothing that was collected is lost.",
	meansNothingYet:      "Nothing is kept yet.",
	meansNotCounted:      "Whether everything is here is not known, because it was not counted.",
	meansStale:           "What is newer than that is not here yet.",
	nextReadAgain:        "It is read again by itself.",
	nextGoesOn:           "It goes on by itself.",
	nextFirstRun:         "It goes on by itself, and nobody has to wait for it.",
	nextNothing:          "Nothing more happens by itself.",
	nextDevice:           "The collector on the host goes on by itself.",
	nextScheduleOff:      "Nothing by itself, since the schedule is off.",
	nextByOwner:          "Nothing by itself, since only you start a run.",
}

// Sentences around an age or a number. An age is "today", "yesterday" or
// "3 days ago"; a number stands in its own place and never in a note.
const (
	beforeAgeFresh     = "Refreshed "
	beforeAgeBroken    = "Last successful refresh "
	beforeAgeManual    = "Last refreshed "
	beforeAgeStale     = "Older than planned, last collected "
	afterAgeRetained   = ", last refreshed "
	ageToday           = "today"
	ageYesterday       = "yesterday"
	afterDays          = " days ago"
	wordRecord         = " record"
	wordRecords        = " records"
	afterCommitted     = " collected by the last run"
	afterHeld          = " held"
	afterHeldDevice    = " held from the device"
	wordItem           = " earlier item"
	wordItems          = " earlier items"
	beforeDrained      = "The last run filled in "
	betweenHeldDrained = ", and the last run filled in "

	beforeTotal    = "The source reports "
	wordTotalItem  = " item"
	wordTotalItems = " items"
	betweenTotal   = " and "
	afterListedOne = " was listed."
	afterListed    = " were listed."

	afterAgeNothingNew = ", nothing new."
	wordNewRecord      = " new record"
	wordNewRecords     = " new records"
	wordRecordIs       = " record is kept"
	wordRecordsAre     = " records are kept"
	afterKeptStopped   = ", and nothing newer comes in until this is mended."
	afterKeptFirst     = " so far and can be read now, and how many there are is known when the lists end."
	afterKeptGoesOn    = ", and the first run goes on."
	beforeNext         = "It goes on by itself "
	afterNextSooner    = ", and a retry starts it sooner."
	inAMoment          = "at any moment"
	inMinutes          = "within minutes"
	inAnHour           = "within an hour"
	inADay             = "in about a day"
	beforeHours        = "in about "
	afterHours         = " hours"
	afterDaysAhead     = " days"
)

// What could not be read, as the owner would name it.
const (
	beforeUnread      = "Part of what is known about this connection could not be read ("
	afterUnread       = "), so how collection stands is not known."
	unreadUnspecified = "Part of what is known about this connection could not be read, so how collection stands is not known."
)

var unreadWords = [...]struct{ Family, Words string }{
	{"manifest", "what its connector declares"},
	{"records", "its records"},
	{"runs", "its runs"},
	{"schedule", "its schedule"},
	{"credential", "its credential"},
	{"probes", "what its runs need"},
	{"attention", "its open requests"},
	{"local_device", "its devices"},
}
