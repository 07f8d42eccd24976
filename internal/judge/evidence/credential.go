package evidence

import (
	"slices"
	"time"
)

// Refusal is the word that the credential does not work.
type Refusal struct {
	Fault CredentialFault
	At    *time.Time // nil when nobody knows since when
	Until *time.Time // when the word stops counting; nil for never
	// Texts are what came with it. They may carry a secret and are not for show.
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

// CredentialLook is the newest look at the credential that still counts; nil
// when there is none. One that found none does not where one is stored: it came
// before, even where it is dated later.
func (e *Evidence) CredentialLook(now time.Time) *Probe {
	var found *Probe
	for i := range e.Probes {
		p := &e.Probes[i]
		over := p.ExpiresAt != nil && !p.ExpiresAt.After(now)
		if p.Dimension == ProbeCredentials && !over && (found == nil || p.At.After(found.At)) {
			found = p
		}
	}
	if found != nil && e.Credential != nil && (found.Reason == ReasonCredentialRequired || e.CredentialReplacedSince(found.At)) {
		return nil
	}
	return found
}

// asksForIt reports whether a run is asking the owner for the credential that the
// look did not find. Its question is the shorter way, and says it.
func (e *Evidence) asksForIt(look *Probe, now time.Time) bool {
	return look.Reason == ReasonCredentialRequired && slices.ContainsFunc(e.Attention, func(a Attention) bool {
		return a.Reason == "credentials_required" && a.Lifecycle.Waiting() && (a.ExpiresAt == nil || a.ExpiresAt.After(now))
	})
}

// CredentialRefusal weighs what says no: the store's own record, its end, a look that
// failed, and the newest run. A success since, or a new credential, ends each
// of them; one that was stored while the run went on is not the one that it
// used, or else the store's own record says so. A rejection of unknown time cannot be called older than a success.
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
	look := e.CredentialLook(now)
	if look != nil && look.Status == ProbeFailed && !e.SucceededSince(look.At) && !e.asksForIt(look, now) {
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

// RunFault returns how a run failed over its credential; empty when it did not. Where no credential
// is stored and no person signs in, a forbidden answer cannot be about one.
func (e *Evidence) RunFault(run *Run) CredentialFault {
	if run == nil || run.Failure == nil || run.Failure.Forbidden() && e.Credential == nil &&
		e.Connection.SourceKind != SourceBrowser {
		return ""
	}
	return run.Failure.CredentialFault()
}
