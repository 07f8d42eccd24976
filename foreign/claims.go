package foreign

import (
	"maps"
	"slices"

	"pdpp/connectorkit"
	"pdpp/foreign/governproxy"
	"pdpp/protocol"
)

// evidence is what a run that the tap ended by exit code 0 has to show for one stream.
type evidence struct {
	kind Kind
	// begun says that the tap took notice of the stream: it wrote a SCHEMA.
	begun bool
	// status is the last one of an Airbyte source.
	status string
	// traffic is what the proxy saw of the tap while it worked on the stream.
	traffic Traffic
}

// Traffic is what became of a tap's requests.
type Traffic struct {
	// Unseen says that requests could not be inspected, or that nothing kept the tap from
	// sending them past the proxy.
	Unseen bool
	// Refused are final refusals and failures that the tap was answered with, by status; 0
	// stands for no answer at all.
	Refused map[int]int
	// Elsewhere are hosts that the tap was not allowed to reach.
	Elsewhere []string
	// Last is the status of the last answer; 0 when there was none.
	Last int
	// Asked are the places of the tap's output at which it sent requests, in order. Refusals are the
	// refused ones, with their places.
	Asked    []int64
	Refusals []governproxy.Refusal
}

// at returns the traffic without the refusals of requests that were sent elsewhere.
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

// claim is what may be said of a stream.
type claim string

const (
	// claimComplete means complete as far as the tap tells.
	claimComplete claim = "complete"
	// claimGapped means that the tap went on although it was refused something. Nobody can say
	// which records that concerns.
	claimGapped claim = "gapped"
	// claimFailed means that the tap did not collect the stream.
	claimFailed claim = "failed"
	// claimUnknown means that nobody can tell.
	claimUnknown claim = "unknown"
)

// claim judges a stream. The first that holds counts.
func (e evidence) claim() claim {
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

// failure is why a stream failed although the tap ended well.
func (e evidence) failure() error {
	if e.kind == Airbyte {
		return &connectorkit.Error{Class: connectorkit.Unavailable, Words: "the source says itself that this stream is incomplete"}
	}
	return &connectorkit.Error{Class: connectorkit.Malformed,
		Words: "the tap took no notice of this stream: it wrote no SCHEMA; wrap it again, with --properties if it is an older one"}
}

// transient tells whether a later run may well be answered what this one was refused.
func transient(status int) bool {
	return status == 0 || status == 408 || status == 429 || status >= 500
}

// passing tells whether something of the refusals is transient. What the tap's states say from
// then on is not believed: they would lead past what was refused.
func (t Traffic) passing() bool {
	for status := range t.Refused {
		if transient(status) {
			return true
		}
	}
	return false
}

// absent reports whether every refusal is a 404 or a 410.
func (t Traffic) absent() bool {
	for status := range t.Refused {
		if status != 404 && status != 410 {
			return false
		}
	}
	return len(t.Refused) > 0 && len(t.Elsewhere) == 0
}

func (t Traffic) statuses() []int { return slices.Sorted(maps.Keys(t.Refused)) }

// skip is the declaration for a stream whose tap was refused something and went on.
func (t Traffic) skip(stream string) protocol.SkipResult {
	s := protocol.SkipResult{Stream: stream, Diagnostics: encode(map[string]any{"refused": t.statuses(), "hosts_not_allowed": t.Elsewhere})}
	var text string
	switch has := func(status int) bool { return t.Refused[status] > 0 }; {
	case has(429):
		s.Reason, text = protocol.ReasonRateLimited, "the provider refused requests because of the pace, and the tap went on without the answers"
		s.RecoveryHint = &protocol.RecoveryHint{Action: protocol.RetryByRuntime}
	case t.passing():
		s.Reason, text = protocol.ReasonTemporaryUnavailable, "requests failed, and the tap went on without the answers"
		s.RecoveryHint = &protocol.RecoveryHint{Action: protocol.RetryByRuntime}
	case has(403) || has(401):
		s.Reason, text = protocol.ReasonPermanentForbidden, "the provider did not allow some requests, and the tap went on without the answers"
		s.RecoveryHint = &protocol.RecoveryHint{Action: protocol.RefreshCredentials}
	case len(t.Refused) > 0:
		s.Reason, text = protocol.ReasonNotFound, "the provider did not find some of what the tap asked for, and the tap went on without it"
		s.RecoveryHint = &protocol.RecoveryHint{Action: protocol.RetryByRuntime}
	default:
		s.Reason, text = "host_not_allowed", "the tap asked hosts that it may not reach; add them to the variable of its hosts if it needs them"
		s.RecoveryHint = &protocol.RecoveryHint{Action: protocol.ManualActionRequired}
	}
	s.Message = &text
	return s
}

// ended is why a tap that did not exit with 0 failed. Singer knows only the exit code, so the
// last answer that the proxy saw decides.
func (t Traffic) ended() *connectorkit.Error {
	switch {
	case t.Last == 401:
		return &connectorkit.Error{Class: connectorkit.Unauthorized, Status: t.Last}
	case t.Last == 429:
		return &connectorkit.Error{Class: connectorkit.RateLimited, Status: t.Last}
	case t.Last >= 500, t.Refused[0] > 0:
		return &connectorkit.Error{Class: connectorkit.Unavailable, Status: t.Last}
	case len(t.Elsewhere) > 0:
		return &connectorkit.Error{Class: connectorkit.Malformed,
			Words: "the tap failed after it asked for a host that it may not reach: " + t.Elsewhere[0]}
	}
	return errFailed
}

var errFailed = &connectorkit.Error{Class: connectorkit.Unavailable, Words: "the tap failed; its own words are in the run's last output"}

// classOf is what a failure that an Airbyte source classifies means.
func classOf(failure string) error {
	switch failure {
	case "config_error":
		return &connectorkit.Error{Class: connectorkit.Unauthorized, Words: "the source does not accept its configuration or credential"}
	case "transient_error":
		return &connectorkit.Error{Class: connectorkit.Unavailable, Words: "the source calls its failure passing"}
	default:
		return &connectorkit.Error{Class: connectorkit.Malformed, Words: "the source failed by a fault of its own; a newer one may help"}
	}
}
