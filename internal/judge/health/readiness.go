package health

import (
	"slices"
	"strings"
	"time"

	"pdpp/internal/judge/evidence"
	"pdpp/protocol"
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
	default:
		return continuityProven.at(r.LastSuccessAt)
	}
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

// runtimeAvailable is about what a run needs on this machine. A success proves
// that it was there; a failed look that is newer outweighs it.
func (r *reading) runtimeAvailable() finding {
	if p, row := r.missingNeed(); p != nil {
		return row.at(&p.At).until(p.ExpiresAt)
	}
	if run := r.failed(); run != nil && run.Failure != nil && !r.foundSince(run) {
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

// missingNeed finds a binding or a tool that was looked for and not found, by
// its newest look, and that no run has succeeded without since.
func (r *reading) missingNeed() (*evidence.Probe, *Kind) {
	var found *evidence.Probe
	for i := range r.Probes {
		p := &r.Probes[i]
		if p.Dimension != evidence.ProbeRuntime && p.Dimension != evidence.ProbeTool {
			continue
		}
		if p.Status != evidence.ProbeFailed || expired(p.ExpiresAt, r.now) || r.SucceededSince(p.At) || r.lookedAgain(p) {
			continue
		}
		if found == nil || p.At.After(found.At) {
			found = p
		}
	}
	switch {
	case found == nil:
		return nil, nil
	case found.Dimension == evidence.ProbeTool:
		return found, toolUnavailable
	case found.Name == "browser":
		return found, browserMissing
	default:
		return found, bindingMissing
	}
}

// foundSince reports whether what the run lacked, which its message ends with,
// was found by a later look that is still good.
func (r *reading) foundSince(run *evidence.Run) bool {
	return slices.ContainsFunc(r.Probes, func(p evidence.Probe) bool {
		return p.Dimension == evidence.ProbeRuntime && p.Status == evidence.ProbeOK && p.At.After(run.EndedAt) &&
			p.Name != "" && strings.HasSuffix(run.Failure.Message, " "+p.Name) && !expired(p.ExpiresAt, r.now)
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
