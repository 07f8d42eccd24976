package health

import (
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/protocol"
)

// credentialsValid is false while something says no, and true once a look or a
// run has shown that the source accepts the credential that is stored now.
func (r *reading) credentialsValid() finding {
	if refusal, refused := r.CredentialRefusal(r.now); refused {
		row := credentialRejected
		if refusal.Fault == evidence.CredentialMissing {
			row = credentialRequired
		}
		f := row.at(refusal.At).until(refusal.Until)
		for _, text := range refusal.Texts {
			f = f.redactedIf(text)
		}
		return f
	}
	if at := r.refusedPart(); at != nil {
		return credentialTooNarrow.at(at)
	}
	if look := r.CredentialLook(r.now); look != nil && look.Status == evidence.ProbeOK {
		return credentialsAccepted.at(&look.At).until(look.ExpiresAt)
	}
	if r.LastRun != nil && r.LastRun.Status == evidence.RunSucceeded && !r.CredentialReplacedSince(r.LastRun.EndedAt) {
		return credentialsAccepted.at(&r.LastRun.EndedAt)
	}
	return credentialsNotProbed.at(nil)
}

// refusedPart is when a run found that the credential does not reach a required
// stream, and the credential is still the same.
func (r *reading) refusedPart() *time.Time {
	for i := range r.Streams {
		s := &r.Streams[i]
		if f := s.Fact; s.Required && f != nil && f.Skip != nil && f.Skip.Action == protocol.RefreshCredentials && !r.CredentialReplacedSince(f.At) {
			return &f.At
		}
	}
	return nil
}

// redactedIf marks the condition when the text behind it could carry a secret.
// That text is never shown: the reason is the row's own.
func (f finding) redactedIf(text string) finding {
	_, redacted := safeReason(text, "")
	f.redacted = f.redacted || redacted
	return f
}

// credentialContinuity tells whether a run has worked with the credential that
// is stored now.
func (r *reading) credentialContinuity() finding {
	c := r.Credential
	switch {
	case c == nil:
		return continuityNotApplicable.at(nil)
	case r.LastSuccessAt == nil:
		return continuityNotApplicable.at(&c.CapturedAt)
	case c.CapturedAt.After(*r.LastSuccessAt):
		return continuityUnproven.at(&c.CapturedAt)
	case r.endsWithin(lastDays, lastPart):
		return continuityEndsNow.at(&c.CapturedAt).until(c.EndsAt)
	case r.endsWithin(aheadDays, aheadPart):
		return continuityEnding.at(&c.CapturedAt).until(c.EndsAt)
	default:
		return continuityProven.at(r.LastSuccessAt)
	}
}

// How long before its end the owner is told of a sign-in that cannot be extended, and how long before
// they are called: so many days, or that part of its life if it lives shorter.
const (
	aheadDays, aheadPart = 14 * 24 * time.Hour, 4
	lastDays, lastPart   = 3 * 24 * time.Hour, 8
)

// endsWithin reports whether the credential ends so soon for good.
func (r *reading) endsWithin(days time.Duration, part int) bool {
	c := r.Credential
	if c.EndsAt == nil || c.Status != evidence.CredentialActive || !r.now.Before(*c.EndsAt) {
		return false // what has ended is refused, or a success since shows that it has not
	}
	life := c.EndsAt.Sub(c.CapturedAt)
	return !r.now.Before(c.EndsAt.Add(-min(days, life/time.Duration(part))))
}

// newest is the newest look at a dimension that is still good.
func (r *reading) newest(d evidence.Dimension) *evidence.Probe {
	var found *evidence.Probe
	for i := range r.Probes {
		p := &r.Probes[i]
		if p.Dimension == d && !expired(p.ExpiresAt, r.now) && (found == nil || p.At.After(found.At)) {
			found = p
		}
	}
	return found
}

// doubledFor is how long the owner is asked about two installations that took turns with
// the access of one device, after it was last seen.
const doubledFor = 7 * 24 * time.Hour

// doubled is when a device that feeds the connection was last seen to be two.
func (r *reading) doubled() (at *time.Time) {
	if r.Device == nil {
		return nil
	}
	for i := range r.Device.Sources {
		s := &r.Device.Sources[i]
		if s.Trusted() && s.DoubledAt != nil && r.now.Sub(*s.DoubledAt) < doubledFor && (at == nil || s.DoubledAt.After(*at)) {
			at = s.DoubledAt
		}
	}
	return at
}

// runtimeAvailable is about what a run needs on this machine. A success proves
// that it was there; a failed look that is newer outweighs it.
func (r *reading) runtimeAvailable() finding {
	if r.outbox.Unreliable && r.Connection.SourceKind == evidence.SourceLocalDevice {
		return deviceMissing.at(nil) // every source that it had was revoked
	}
	if at := r.doubled(); at != nil {
		return deviceDoubled.at(at)
	}
	if p := r.missingNeed(); p != nil {
		return r.lacking(p)
	}
	if run := r.failed(); run != nil && run.Failure != nil && !r.foundSince(run) {
		if p := run.Lacked(); p != nil {
			return r.lacking(p)
		}
		switch run.Failure.Reason {
		case "runtime_binding_missing":
			if strings.HasSuffix(run.Failure.Message, "browser") {
				return browserMissing.at(&run.EndedAt)
			}
			return bindingMissing.at(&run.EndedAt)
		case "connector_spawn_failed":
			return runtimeUnavailable.at(&run.EndedAt)
		}
	}
	switch {
	case r.LastRun != nil && r.LastRun.Status == evidence.RunSucceeded:
		return runtimeAvailable.at(&r.LastRun.EndedAt)
	case r.newest(evidence.ProbeRuntime) != nil && r.newest(evidence.ProbeRuntime).Status == evidence.ProbeOK:
		return runtimeAvailable.at(&r.newest(evidence.ProbeRuntime).At)
	case r.LocalDevice():
		return runtimeNotManaged.at(nil)
	default:
		return runtimeStateUnknown.at(nil)
	}
}

// needs are what was looked for on this machine.
var needs = []evidence.Dimension{evidence.ProbeRuntime, evidence.ProbeTool, evidence.ProbeInterpreter,
	evidence.ProbeVariable, evidence.ProbeFiles,
	evidence.ProbeConfirmation, evidence.ProbeConnector}

// missingNeed finds what was looked for and not found, by its newest look, and that no run
// has succeeded without since.
func (r *reading) missingNeed() *evidence.Probe {
	var found *evidence.Probe
	for i := range r.Probes {
		p := &r.Probes[i]
		if !slices.Contains(needs, p.Dimension) {
			continue
		}
		if p.Status != evidence.ProbeFailed || expired(p.ExpiresAt, r.now) || r.SucceededSince(p.At) || r.lookedAgain(p) {
			continue
		}
		if found == nil || p.At.After(found.At) {
			found = p
		}
	}
	return found
}

// lacking is what a look says that did not find what the connector needs.
func (r *reading) lacking(p *evidence.Probe) finding {
	row := bindingMissing
	switch {
	case p.Dimension == evidence.ProbeTool:
		row = toolUnavailable
	case p.Dimension == evidence.ProbeInterpreter:
		row = interpreterMissing
	case p.Dimension == evidence.ProbeVariable:
		row = variableUnset
	case p.Dimension == evidence.ProbeFiles && p.Reason == evidence.ReasonFilesUnnamed:
		row = filesUnnamed
	case p.Dimension == evidence.ProbeFiles:
		row = filesMissing
	case p.Reason == evidence.ReasonModuleMissing:
		row = moduleMissing
	case p.Reason == evidence.ReasonPathMissing:
		row = pathMissing
	case p.Dimension == evidence.ProbeConfirmation:
		row = connectorUnconfirmed
	case p.Dimension == evidence.ProbeConnector:
		row = connectorUnusable
	case p.Name == "browser":
		row = browserMissing
	}
	f := row.at(&p.At).until(p.ExpiresAt)
	if row.Origin == OriginReadiness {
		f = f.naming(p.Name, r.Connection.ConnectorID)
	}
	return f
}

// foundSince reports whether what the run lacked was found by a later look that is still good.
func (r *reading) foundSince(run *evidence.Run) bool {
	return slices.ContainsFunc(r.Probes, func(p evidence.Probe) bool {
		return p.Status == evidence.ProbeOK && p.At.After(run.EndedAt) && run.LackedFor(&p) && !expired(p.ExpiresAt, r.now)
	})
}

// lookedAgain reports whether a newer look at the same thing is still good.
func (r *reading) lookedAgain(p *evidence.Probe) bool {
	return slices.ContainsFunc(r.Probes, func(q evidence.Probe) bool {
		return q.Dimension == p.Dimension && q.Name == p.Name && q.At.After(p.At) && !expired(q.ExpiresAt, r.now)
	})
}

func (r *reading) remoteSurface() finding {
	if r.surfaceAt == nil {
		return surfaceNotRequired.at(nil)
	}
	row := surfaceAvailable
	switch r.surface {
	case SurfaceFailed:
		row = surfaceFailed
	case SurfaceUnknown:
		row = surfaceUnknown
	}
	return row.at(&r.surfaceAt.At).until(r.surfaceAt.ExpiresAt)
}
