package protocol

// OwnerCopy returns the sentence that an owner reads for a deferred item. The error class takes precedence over
// the reason, because different stops of a run share the reason retry_exhausted (RT-18). Only the source-pressure
// sentences may claim that the service is busy.
func OwnerCopy(reason Reason, class string) string {
	if own := Reason(class); !reason.SourcePressure() {
		switch own {
		case ClassRunCap:
			return ownerCopy[ReasonRunCapDeferred]
		case ReasonRetryBudget, ReasonCircuitOpen:
			return ownerCopy[own]
		}
	}
	if text, ok := ownerCopy[reason]; ok {
		return text
	}
	if Subtype(reason).OfRecord() {
		return "This item was not as the connector declares it, and was left out. A connector update may fix it."
	}
	return "This item was not collected yet. A later run tries it again."
}

var ownerCopy = map[Reason]string{
	ReasonRunCapDeferred: "This run reached the limit you set for one run. What it collected is saved, and the " +
		"next run continues from here.",
	ReasonRetryExhausted:     "The retries allowed for this item were used up. A later run tries it again.",
	ReasonMaxRequests:        "This run reached its request limit. The next run continues from here.",
	ReasonMaxWallClock:       "This run reached its time limit. The next run continues from here.",
	ReasonRetryBudget:        "This run used up its share of retries. The next run continues from here.",
	ReasonCircuitOpen:        "Requests kept failing, so this run paused them. A later run tries again.",
	ReasonRateLimited:        "The service is busy and asked us to slow down. A later run tries again, more slowly.",
	ReasonUpstreamPressure:   "The service is busy right now. A later run tries again, more slowly.",
	ReasonAuthFailure:        "The service did not accept the sign-in. Reconnect to continue.",
	ReasonGone:               "The service says this item no longer exists.",
	ReasonNotFound:           "The service could not find this item.",
	ReasonPermanentForbidden: "The service does not allow access to this item.",
	ReasonQuarantined:        "This item failed repeatedly and is set aside. A connector update may fix it.",
	ReasonTooManyRejected: "A large part of this was not as the connector declares it, so no more of it was " +
		"collected. A connector update may fix it.",
	ReasonRecordRejected: "This item was not as its connector declares it when a device sent it, and was left " +
		"out. An update may fix it.",
	ReasonNotAvailableInMode: "This is not available with the way this source is connected.",
	ReasonOutOfScope:         "This is outside what you asked to collect.",
	ReasonUserDisabled:       "You turned this off.",
	ReasonBlobTooLarge: "A file of this is larger than what you keep. Raise the limit for one file to keep " +
		"files of this size.",
	ReasonBlobNoRoom: "There is no room for the file of this item. Raise the limit for all files. A later " +
		"run tries it again.",
	ReasonBlobFailed: "A file of this item could not be kept. A later run tries it again.",
	ReasonMissingKept: "More than half of what is stored here was not found at the service. That is more " +
		"likely a sign-in that sees less than a deletion, so nothing was deleted.",
	ReasonNotReached:           "The run stopped before it got to this. A later run collects it.",
	ReasonTemporaryUnavailable: "The service could not answer for this item. A later run tries it again.",
}
