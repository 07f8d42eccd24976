package foreign

import (
	"maps"
	"slices"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/foreign/governproxy"
	"github.com/pdpp-go/pdpp/protocol"
)

// streamEvidence is what a run with exit code 0 proves for one stream.
type streamEvidence struct {
	kind TapProtocol
	// begun means that the tap wrote a SCHEMA for the stream.
	begun bool
	// status is the last status of an Airbyte source.
	status string
	// traffic is the tap's traffic while it worked on the stream.
	traffic Traffic
}

// Traffic describes the results of a tap's requests.
type Traffic struct {
	// Unseen means that requests could not be inspected, or could bypass the proxy.
	Unseen bool
	// Refused counts final refusals and failures by status; 0 means no response.
	Refused map[int]int
	// Elsewhere are hosts that the tap was not allowed to reach.
	Elsewhere []string
	// Last is the status of the last response; 0 if there was none.
	Last int
	// Asked are the positions in the tap's output at which it sent requests, in order. Refusals are the refused
	// ones with their positions.
	Asked    []int64
	Refusals []governproxy.Refusal
}

// at returns the traffic without the refusals of requests at other positions.
func (t Traffic) at(here func(place int64) bool) Traffic {
	all := t.Refusals
	t.Refused, t.Refusals = map[int]int{}, nil
	for _, r := range all {
		if slices.ContainsFunc(r.Places, here) {
			t.Refused[r.Status]++
			t.Refusals = append(t.Refusals, r)
		}
	}
	return t
}

// streamClaim is what may be claimed about a stream.
type streamClaim string

const (
	// claimComplete means complete as reported by the tap.
	claimComplete streamClaim = "complete"
	// claimGapped means that the tap continued after a refusal. The affected records are unknown.
	claimGapped streamClaim = "gapped"
	// claimFailed means that the tap did not collect the stream.
	claimFailed streamClaim = "failed"
	// claimUnknown means that the result cannot be determined.
	claimUnknown streamClaim = "unknown"
)

// claim judges a stream. The first matching case counts.
func (e streamEvidence) claim() streamClaim {
	switch {
	case e.kind == Singer && !e.begun, e.kind == Airbyte && e.status != "" && e.status != "COMPLETE":
		return claimFailed
	case len(e.traffic.Refused) > 0 || len(e.traffic.Elsewhere) > 0:
		return claimGapped
	case e.traffic.Unseen, e.kind == Airbyte && e.status == "":
		return claimUnknown
	default:
		return claimComplete
	}
}

// failure returns why a stream failed although the tap exited with 0.
func (e streamEvidence) failure() error {
	if e.kind == Airbyte {
		return &connectorkit.Error{
			Class:        connectorkit.Unavailable,
			OwnerMessage: "the source says itself that this stream is incomplete",
		}
	}
	return &connectorkit.Error{
		Class: connectorkit.Malformed,
		OwnerMessage: "the tap took no notice of this stream: it wrote no SCHEMA; wrap it again, with --properties if it " +
			"is an " +
			"older one",
	}
}

// isTransient reports whether a later run may succeed where this one was refused.
func isTransient(status int) bool {
	return status == 0 || status == 408 || status == 429 || status >= 500
}

// hasTransient reports whether some refusals are transient. Later states of the tap are then ignored, because they
// would skip what was refused.
func (t Traffic) hasTransient() bool {
	for status := range t.Refused {
		if isTransient(status) {
			return true
		}
	}
	return false
}

// isAbsent reports whether every refusal is a 404 or a 410.
func (t Traffic) isAbsent() bool {
	for status := range t.Refused {
		if status != 404 && status != 410 {
			return false
		}
	}
	return len(t.Refused) > 0 && len(t.Elsewhere) == 0
}

func (t Traffic) statuses() []int { return slices.Sorted(maps.Keys(t.Refused)) }

// skip returns the declaration for a stream that continued after a refusal.
func (t Traffic) skip(stream string) protocol.SkipResult {
	s := protocol.SkipResult{
		Stream:      stream,
		Diagnostics: encodeJSON(map[string]any{"refused": t.statuses(), "hosts_not_allowed": t.Elsewhere}),
	}
	var text string
	switch has := func(status int) bool { return t.Refused[status] > 0 }; {
	case has(429):
		s.Reason, text = protocol.ReasonRateLimited,
			"the provider refused requests because of the pace, and the tap went on without the answers"
		s.RecoveryHint = &protocol.RecoveryHint{Action: protocol.RetryByRuntime}
	case t.hasTransient():
		s.Reason, text = protocol.ReasonTemporaryUnavailable, "requests failed, and the tap went on without the answers"
		s.RecoveryHint = &protocol.RecoveryHint{Action: protocol.RetryByRuntime}
	case has(403) || has(401):
		s.Reason, text = protocol.ReasonPermanentForbidden,
			"the provider did not allow some requests, and the tap went on without the answers"
		s.RecoveryHint = &protocol.RecoveryHint{Action: protocol.RefreshCredentials}
	case len(t.Refused) > 0:
		s.Reason, text = protocol.ReasonNotFound, "the provider did not find some of what the tap asked for, and the tap "+
			"went on without it"
		s.RecoveryHint = &protocol.RecoveryHint{Action: protocol.RetryByRuntime}
	default:
		s.Reason, text = "host_not_allowed", "the tap asked hosts that it may not reach; add them to the variable of its "+
			"hosts if it needs them"
		s.RecoveryHint = &protocol.RecoveryHint{Action: protocol.ManualActionRequired}
	}
	s.Message = &text
	return s
}

// exitError returns why a tap with an exit code other than 0 failed. Singer has only the exit code, so the last
// response that the proxy saw decides.
func (t Traffic) exitError() *connectorkit.Error {
	switch {
	case t.Last == 401:
		return &connectorkit.Error{Class: connectorkit.Unauthorized, Status: t.Last}
	case t.Last == 429:
		return &connectorkit.Error{Class: connectorkit.RateLimited, Status: t.Last}
	case t.Last >= 500, t.Refused[0] > 0:
		return &connectorkit.Error{Class: connectorkit.Unavailable, Status: t.Last}
	case len(t.Elsewhere) > 0:
		return &connectorkit.Error{Class: connectorkit.Malformed,
			OwnerMessage: "the tap failed after it asked for a host that it may not reach: " + t.Elsewhere[0]}
	}
	return errFailed
}

var errFailed = &connectorkit.Error{
	Class:        connectorkit.Unavailable,
	OwnerMessage: "the tap failed; its own words are in the run's last output",
}

// failureClass converts the failure class of an Airbyte source.
func failureClass(failure string) error {
	switch failure {
	case "config_error":
		return &connectorkit.Error{
			Class:        connectorkit.Unauthorized,
			OwnerMessage: "the source does not accept its configuration or credential",
		}
	case "transient_error":
		return &connectorkit.Error{Class: connectorkit.Unavailable, OwnerMessage: "the source calls its failure passing"}
	default:
		return &connectorkit.Error{
			Class:        connectorkit.Malformed,
			OwnerMessage: "the source failed by a fault of its own; a newer one may help",
		}
	}
}
