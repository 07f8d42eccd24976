package evidence

import (
	"slices"
	"time"
)

// Refusal describes why the credential does not work.
type Refusal struct {
	Fault CredentialFault
	At    *time.Time // nil when the time is unknown
	Until *time.Time // when the refusal stops counting; nil for never
	// Texts are the code and message that came with the refusal. They may contain a secret and must not be shown.
	Texts []string
}

// SucceededSince reports whether a run succeeded at or after the moment.
func (e *Evidence) SucceededSince(t time.Time) bool {
	return e.LastSuccessAt != nil && !e.LastSuccessAt.Before(t)
}

// CredentialReplacedSince reports whether the stored credential is newer than the moment.
func (e *Evidence) CredentialReplacedSince(t time.Time) bool {
	return e.Credential != nil && e.Credential.CapturedAt.After(t)
}

// LatestCredentialProbe returns the newest probe of the credential that still counts, or nil. A stored credential
// overrides a probe that found none, even if the probe has the later date.
func (e *Evidence) LatestCredentialProbe(now time.Time) *Probe {
	var found *Probe
	for i := range e.Probes {
		p := &e.Probes[i]
		over := p.ExpiresAt != nil && !p.ExpiresAt.After(now)
		if p.Dimension == ProbeCredentials && !over && (found == nil || p.At.After(found.At)) {
			found = p
		}
	}
	if found != nil && e.Credential != nil &&
		(found.Reason == ReasonCredentialRequired || e.CredentialReplacedSince(found.At)) {
		return nil
	}
	return found
}

// askingForCredential reports whether a run already asks the owner for the credential that the probe did not find.
// Answering that question is the shorter way, so the probe is not reported as well.
func (e *Evidence) askingForCredential(look *Probe, now time.Time) bool {
	return look.Reason == ReasonCredentialRequired && slices.ContainsFunc(e.Attention, func(a Attention) bool {
		return a.Reason == "credentials_required" && a.Lifecycle.Waiting() && (a.ExpiresAt == nil || a.ExpiresAt.After(now))
	})
}

// CredentialRefusal returns the refusal that is in force. It considers, in this order, the store's own record, the
// credential's end, a failed probe and the newest run. A later success or a new credential ends each of them. A
// credential stored during a run is not the one that the run used. A rejection without a time cannot be older than a
// success.
func (e *Evidence) CredentialRefusal(now time.Time) (Refusal, bool) {
	if c := e.Credential; c != nil {
		switch {
		case c.Status == CredentialRevoked:
			return Refusal{Fault: CredentialMissing, At: &c.CapturedAt}, true
		case c.Status == CredentialRejected && (c.RejectedAt == nil || !e.SucceededSince(*c.RejectedAt)):
			return Refusal{Fault: CredentialRefused, At: c.RejectedAt, Texts: []string{c.Reason}}, true
		case c.Status == CredentialActive && c.EndsAt != nil && !now.Before(*c.EndsAt) && !e.SucceededSince(*c.EndsAt):
			return Refusal{Fault: CredentialRefused, At: c.EndsAt}, true
		}
	}
	look := e.LatestCredentialProbe(now)
	if look != nil && look.Status == ProbeFailed && !e.SucceededSince(look.At) && !e.askingForCredential(look, now) {
		fault := CredentialRefused
		if look.Reason == ReasonCredentialRequired {
			fault = CredentialMissing
		}
		return Refusal{Fault: fault, At: &look.At, Until: look.ExpiresAt, Texts: []string{look.Reason}}, true
	}
	run := e.LastRun
	if run == nil || run.Status == RunSucceeded || run.Failure == nil || e.CredentialReplacedSince(run.StartedAt) {
		return Refusal{}, false
	}
	fault := e.RunFault(run)
	if fault == "" || look != nil && look.Status == ProbeOK && look.At.After(run.EndedAt) {
		return Refusal{}, false
	}
	return Refusal{Fault: fault, At: &run.EndedAt, Texts: []string{run.Failure.Code, run.Failure.Message}}, true
}

// RunFault returns how the credential made the run fail; empty when it did not. Without a stored credential and
// without a browser sign-in, a forbidden response cannot be about a credential.
func (e *Evidence) RunFault(run *Run) CredentialFault {
	if run == nil || run.Failure == nil || run.Failure.Forbidden() && e.Credential == nil &&
		e.Connection.SourceKind != SourceBrowser {
		return ""
	}
	return run.Failure.CredentialFault()
}
