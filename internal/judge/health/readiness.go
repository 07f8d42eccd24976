package health

import (
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/protocol"
)

// credentialsValid fails while a refusal is in force. It holds once a probe or a run showed that the source accepts
// the stored credential.
func (r *reading) credentialsValid() finding {
	if refusal, refused := r.CredentialRefusal(r.now); refused {
		row := credentialRejected
		if refusal.Fault == evidence.CredentialMissing {
			row = credentialRequired
		}
		f := row.observedAt(refusal.At).until(refusal.Until)
		for _, text := range refusal.Texts {
			f = f.redactedIf(text)
		}
		return f
	}
	if at := r.refusedPart(); at != nil {
		return credentialTooNarrow.observedAt(at)
	}
	if look := r.LatestCredentialProbe(r.now); look != nil && look.Status == evidence.ProbeOK {
		return credentialsAccepted.observedAt(&look.At).until(look.ExpiresAt)
	}
	if r.LastRun != nil && r.LastRun.Status == evidence.RunSucceeded && !r.CredentialReplacedSince(r.LastRun.EndedAt) {
		return credentialsAccepted.observedAt(&r.LastRun.EndedAt)
	}
	return credentialsNotProbed.observedAt(nil)
}

// refusedPart returns when a run found that the current credential does not cover a required stream, or nil.
func (r *reading) refusedPart() *time.Time {
	for i := range r.Streams {
		s := &r.Streams[i]
		if f := s.Fact; s.Required && f != nil && f.Skip != nil && f.Skip.Action == protocol.RefreshCredentials &&
			!r.CredentialReplacedSince(f.At) {
			return &f.At
		}
	}
	return nil
}

// redactedIf marks the condition if the text could contain a secret. The text is never shown: the reason is the row's
// own.
func (f finding) redactedIf(text string) finding {
	_, redacted := safeReason(text, "")
	f.redacted = f.redacted || redacted
	return f
}

// credentialContinuity reports whether a run has worked with the stored credential.
func (r *reading) credentialContinuity() finding {
	c := r.Credential
	switch {
	case c == nil:
		return continuityNotApplicable.observedAt(nil)
	case r.LastSuccessAt == nil:
		return continuityNotApplicable.observedAt(&c.CapturedAt)
	case c.CapturedAt.After(*r.LastSuccessAt):
		return continuityUnproven.observedAt(&c.CapturedAt)
	case r.endsWithin(urgentDays, urgentPart):
		return continuityEndsNow.observedAt(&c.CapturedAt).until(c.EndsAt)
	case r.endsWithin(warningDays, warningPart):
		return continuityEnding.observedAt(&c.CapturedAt).until(c.EndsAt)
	default:
		return continuityProven.observedAt(r.LastSuccessAt)
	}
}

// How long before its end the owner sees a warning about a sign-in that cannot be extended, and when the warning
// becomes urgent. Credentials with a short life use that part of their life instead of the days.
const (
	warningDays, warningPart = 14 * 24 * time.Hour, 4
	urgentDays, urgentPart   = 3 * 24 * time.Hour, 8
)

// endsWithin reports whether the credential ends for good within the period.
func (r *reading) endsWithin(days time.Duration, part int) bool {
	c := r.Credential
	if c.EndsAt == nil || c.Status != evidence.CredentialActive || !r.now.Before(*c.EndsAt) {
		return false // a refusal, or a success since, already covers a past end
	}
	life := c.EndsAt.Sub(c.CapturedAt)
	return !r.now.Before(c.EndsAt.Add(-min(days, life/time.Duration(part))))
}

// newest returns the newest unexpired probe of a dimension, or nil.
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

// doubledFor is how long the owner is asked about two installations of one device after the last sign of them.
const doubledFor = 7 * 24 * time.Hour

// doubled returns when a device that feeds the connection was last used by two installations, or nil.
func (r *reading) doubled() (at *time.Time) {
	if r.Device == nil {
		return nil
	}
	for i := range r.Device.Sources {
		s := &r.Device.Sources[i]
		if s.Trusted() && s.DoubledAt != nil && r.now.Sub(*s.DoubledAt) < doubledFor &&
			(at == nil || s.DoubledAt.After(*at)) {
			at = s.DoubledAt
		}
	}
	return at
}

// runtimeAvailable judges what a run needs on this machine. A success proves that it was there; a newer failed probe
// overrides the success.
func (r *reading) runtimeAvailable() finding {
	if r.outbox.Unreliable && r.Connection.SourceKind == evidence.SourceLocalDevice {
		return deviceMissing.observedAt(nil) // all its sources were revoked
	}
	if at := r.doubled(); at != nil {
		return deviceDoubled.observedAt(at)
	}
	if p := r.missingNeed(); p != nil {
		return r.missingFinding(p)
	}
	if run := r.failedRun(); run != nil && run.Failure != nil && !r.foundSince(run) {
		if p := run.MissingPrerequisite(); p != nil {
			return r.missingFinding(p)
		}
		switch run.Failure.Reason {
		case "runtime_binding_missing":
			if strings.HasSuffix(run.Failure.Message, "browser") {
				return browserMissing.observedAt(&run.EndedAt)
			}
			return bindingMissing.observedAt(&run.EndedAt)
		case "connector_spawn_failed":
			return runtimeUnavailable.observedAt(&run.EndedAt)
		}
	}
	switch {
	case r.LastRun != nil && r.LastRun.Status == evidence.RunSucceeded:
		return runtimeAvailable.observedAt(&r.LastRun.EndedAt)
	case r.newest(evidence.ProbeRuntime) != nil && r.newest(evidence.ProbeRuntime).Status == evidence.ProbeOK:
		return runtimeAvailable.observedAt(&r.newest(evidence.ProbeRuntime).At)
	case r.LocalDevice():
		return runtimeNotManaged.observedAt(nil)
	default:
		return runtimeStateUnknown.observedAt(nil)
	}
}

// probedNeeds are the dimensions that are probed on this machine.
var probedNeeds = []evidence.Dimension{evidence.ProbeRuntime, evidence.ProbeTool, evidence.ProbeInterpreter,
	evidence.ProbeVariable, evidence.ProbeFiles,
	evidence.ProbeConfirmation, evidence.ProbeConnector}

// missingNeed returns the newest failed probe that is still valid and that no later success or probe contradicts, or
// nil.
func (r *reading) missingNeed() *evidence.Probe {
	var found *evidence.Probe
	for i := range r.Probes {
		p := &r.Probes[i]
		if !slices.Contains(probedNeeds, p.Dimension) {
			continue
		}
		if p.Status != evidence.ProbeFailed || expired(p.ExpiresAt, r.now) || r.SucceededSince(p.At) || r.probedAgain(p) {
			continue
		}
		if found == nil || p.At.After(found.At) {
			found = p
		}
	}
	return found
}

// missingFinding returns the condition for a failed probe.
func (r *reading) missingFinding(p *evidence.Probe) finding {
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
	f := row.observedAt(&p.At).until(p.ExpiresAt)
	if row.Origin == OriginReadiness {
		f = f.withNames(p.Name, r.Connection.ConnectorID)
	}
	return f
}

// foundSince reports whether a later, unexpired probe found what the run lacked.
func (r *reading) foundSince(run *evidence.Run) bool {
	return slices.ContainsFunc(r.Probes, func(p evidence.Probe) bool {
		return p.Status == evidence.ProbeOK && p.At.After(run.EndedAt) && run.FailedWithout(&p) &&
			!expired(p.ExpiresAt, r.now)
	})
}

// probedAgain reports whether there is a newer, unexpired probe of the same thing.
func (r *reading) probedAgain(p *evidence.Probe) bool {
	return slices.ContainsFunc(r.Probes, func(q evidence.Probe) bool {
		return q.Dimension == p.Dimension && q.Name == p.Name && q.At.After(p.At) && !expired(q.ExpiresAt, r.now)
	})
}

func (r *reading) remoteSurface() finding {
	if r.surfaceAt == nil {
		return surfaceNotRequired.observedAt(nil)
	}
	row := surfaceAvailable
	switch r.surface {
	case SurfaceFailed:
		row = surfaceFailed
	case SurfaceUnknown:
		row = surfaceUnknown
	}
	return row.observedAt(&r.surfaceAt.At).until(r.surfaceAt.ExpiresAt)
}
