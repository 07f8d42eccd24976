package verdict

import "github.com/pdpp-go/pdpp/internal/judge/evidence"

// sentences holds the text of each sentenceID.
var sentences = [lineCount]string{
	stNormal:            "Up to date and collecting normally.",
	stLastRunOnly:       "Everything is here as of the last run.",
	stReauth:            "Reconnect and collection starts again.",
	stReauthAhead:       "Sign in again before the sign-in ends, and collection goes on without a break.",
	stSignIn:            "Sign in and collection starts again.",
	stAnswer:            "Answer the open request and collection starts again.",
	stDoubled:           "Two computers use the access of one device; revoke it and connect your own computer again.",
	stNoDevice:          "No device collects this; connect one and collection continues where it stopped.",
	stRuntime:           "Collection starts again once this installation has what the connector needs.",
	stReattach:          "Turn the schedule on and this source updates automatically again.",
	stRefresh:           "Refresh now to collect the newest data of this source.",
	stRefreshDevice:     "Run the collector on the host that holds the data to collect the newest data.",
	stFirstRun:          "Run it once to collect the data of this source.",
	stFirstUnderWay:     "The first run is under way.",
	stRetry:             "Retry now to collect the missing data.",
	stRetryDevice:       "Run the collector on the host that holds the data to collect what is missing.",
	stRetryUpdated:      "The connector broke the protocol; update it and run it again to collect the missing data.",
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
	stTerminalAnswer: "Answering the open request clears the way for the connector, and part of the data still needs " +
		"a code fix.",
	stTerminalRuntime: "Once this installation has what the connector needs, it can start; part of the data still " +
		"needs a code fix.",
	stBlocked:          "This source cannot be collected at present.",
	stUnknown:          "The state of this source is not known yet.",
	stCoverageUnknown:  "How much of this source has been collected is not known yet.",
	stFreshnessUnknown: "How recent the data is has not been established yet.",
	stRefreshRuns:      "A refresh is under way.",
	stStale:            "The data is older than planned.",
	stStaleScheduled:   "The data is older than planned, and the schedule starts the next run.",
	stAwaitingOwner:    "This connection waits for an answer from you.",
	stUploading:        "The device is uploading the records that it has saved.",
	stPaused:           "The schedule is off, so this source is not updated automatically.",
	stOtherwise:        "Part of this connection is not as it should be, and its details name the cause.",
	stTotals:           "The source reports more items than it listed.",
	stPartMissing:      "Part of the data is missing.",

	ctaReconnect:      "Reconnect",
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
	ctaContinues:      "The next run continues automatically",
	ctaStartsItself:   "The next run starts automatically",
	ctaPausing:        "The next run starts after a pause",
	ctaAfterPause:     "The source can be asked again after its pause",

	sumUploadFailed: "Records saved on the host that holds the data did not upload to the server, and the " +
		"recovery steps there send them again.",
	sumUploadFailedTerminal: "Records saved on the host that holds the data did not upload to the server, and the " +
		"connector needs a code fix before this source can collect again.",
	sumStateRead: "The collector on the host that holds the data could not read its earlier state, and " +
		"running it again there lets it upload.",
	sumStateReadTerminal: "The collector on the host that holds the data could not read its earlier state, and the " +
		"connector needs a code fix before this source can collect again.",
	sumStalePending: "Records saved on the host that holds the data stopped uploading, and running the " +
		"collector there sends them.",
	sumStalePendingTerminal: "Records saved on the host that holds the data stopped uploading, and the connector needs " +
		"a code fix before this source can collect again.",
	sumStalled: "The collector on the host that holds the data stopped uploading, and checking it there " +
		"names the cause.",
	sumStalledTerminal: "The collector on the host that holds the data stopped uploading, and the connector needs " +
		"a code fix before this source can collect again.",
	labelRun:       "Run the collector",
	purposeRun:     "Runs the collector once on the host and uploads what waits there.",
	labelPreview:   "Show what waits",
	purposePreview: "Shows which saved records would be sent, and changes nothing.",
	labelApply:     "Send what waits",
	purposeApply:   "Puts the failed uploads back in line and runs the collector once.",
	labelDoctor:    "Check the collector",
	purposeDoctor:  "Reports what keeps the collector from uploading, and changes nothing.",

	noteFreshnessUnknown:   "Freshness not known yet",
	noteRefreshTimeUnknown: "Last successful refresh: time not known",
	noteRunUnderWay:        "A run is under way",
	noteUploading:          "The device is uploading saved records",
	noteSchedulePaused:     "The schedule is off",
	noteAnswer:             "Waiting for your answer",
	noteStalled:            "Saved records are not uploading",
	noteMissing:            "Some data is missing",

	rowComplete:            "Collected.",
	rowCompleteReported:    "Collected, " + evidence.ReportedByConnector + ".",
	rowAsOfRefresh:         "Collected as of the last refresh.",
	rowAsOfRefreshReported: "Collected as of the last refresh, " + evidence.ReportedByConnector + ".",
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
	hapGaveUp:            "The same failure kept repeating, so no further attempt is made.",
	hapRunFailed:         "The last run did not succeed.",
	hapPressure:          "The source asked for a slower pace.",
	hapPause:             "The next run is put off after earlier failures.",
	hapTerminal:          "The last run met data that this version of the connector cannot collect.",
	hapLeftForLater:      "The last run left something for a later one.",
	hapDeviceDone:        "The device reported in and has nothing left to upload.",
	hapDeviceSilent:      "The device has not reported the state of its uploads.",
	hapNeverRun:          "Connected, and no run has ended yet.",
	hapRunSucceeded:      "The last run succeeded.",
	meansUnread:          "What was collected stays as it is.",
	meansStalled:         "The saved records are safe on that host, but not here yet.",
	meansStopped:         "Nothing new arrives until this is fixed.",
	meansFirstRun:        "New records can be read as soon as they arrive.",
	meansTerminal:        "That part stays missing; everything else is here.",
	meansTotals:          "Part of the data may be missing, and nothing that was collected is lost.",
	meansPartMissing:     "Part of the data is still missing, and nothing that was collected is lost.",
	meansNothingYet:      "Nothing is saved yet.",
	meansNotCounted:      "Whether everything is here is not known, because it was not counted.",
	meansStale:           "Newer data is not here yet.",
	nextReadAgain:        "It is read again automatically.",
	nextGoesOn:           "It continues automatically.",
	nextFirstRun:         "It continues automatically; you do not have to wait.",
	nextNothing:          "Nothing more happens automatically.",
	nextDevice:           "The collector on the host continues automatically.",
	nextScheduleOff:      "Nothing runs automatically, because the schedule is off.",
	nextByOwner:          "Nothing runs automatically, because only you start a run.",
}

// Parts of sentences around an age or a number. An age is "today", "yesterday" or "3 days ago". Annotations contain no
// numbers.
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
	wordRecordIs       = " record is saved"
	wordRecordsAre     = " records are saved"
	afterKeptStopped   = "; nothing newer arrives until this is fixed."
	afterKeptFirst     = " so far and can be read now; the total is known when the lists end."
	afterKeptGoesOn    = ", and the first run continues."
	beforeNext         = "The next update starts "
	afterNextSooner    = ", and a retry starts it sooner."
	inAMoment          = "at any moment"
	inMinutes          = "within minutes"
	inAnHour           = "within an hour"
	inADay             = "in about a day"
	beforeHours        = "in about "
	afterHours         = " hours"
	afterDaysAhead     = " days"
)

// What could not be read, in the owner's words.
const (
	beforeUnread      = "Part of what is known about this connection could not be read ("
	afterUnread       = "), so the state of this source is not known."
	unreadUnspecified = "Part of what is known about this connection could not be read, so the state of this source is " +
		"not known."
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
