package schedule

import (
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/judge/cadence"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// dueWords explains why a connection is due or not, and what the owner can do about it.
func dueWords(s api.ConnectionSchedule) string {
	id := s.ConnectionID
	switch cadence.Reason(s.Why) {
	case cadence.Due:
		if s.RecoveryOnly {
			return "due, to retry what is missing; the source is asked for nothing new yet"
		}
		return "due now"
	case cadence.Running:
		return "a run is under way"
	case cadence.ConnectionInactive:
		return "the connection is not in use"
	case cadence.Unreadable:
		return "some of its facts could not be read: pdpp status " + id
	case cadence.OwnerPaused:
		if s.Schedule != nil && !s.Schedule.Enabled {
			return "you paused it; go on: pdpp schedule resume " + id
		}
		return "the connection is paused"
	case cadence.NoSchedule:
		return "it has no schedule; set one: pdpp schedule set " + id + " --every 6h"
	case cadence.PolicyIneligible:
		return "its connector has to be started by you: pdpp run " + id
	case cadence.AttentionOpen:
		return "a question waits for you: pdpp status " + id
	case cadence.CredentialRejected:
		return "the source refused the credential; fix it, then: pdpp run " + id
	case cadence.GaveUp:
		return "the same failure came " + text.Count(int64(s.Failures), "time", "times") +
			" in a row; fix it, then: pdpp run " + id
	case cadence.InBackoff:
		return "it waits after " + text.Count(int64(s.Failures), "failure", "failures") + " in a row"
	case cadence.ProviderWait:
		return "the source asked for a pause; ask it anyway: pdpp run " + id + " --ask-anyway"
	case cadence.SourcePressure:
		return "the source asked for fewer requests, so PDPP pauses for a while"
	default:
		return "not due yet"
	}
}

// nextAttemptText returns when the next attempt starts.
func nextAttemptText(s api.ConnectionSchedule) string {
	if s.Due {
		return "now"
	}
	return output.FormatOptionalTime(s.NextAt)
}

// formatInterval returns a span as --every accepts it, such as 6h or 1h30m.
func formatInterval(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
