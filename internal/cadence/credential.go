package cadence

import (
	"time"

	"pdpp/internal/evidence"
)

// credentialRefused reports whether a run would only repeat a refusal: by the
// store's record, by a look that failed, or by the newest run. A success since,
// or a new credential, ends each of them.
func (s *situation) credentialRefused() bool {
	if c := s.Credential; c != nil {
		switch {
		case c.Status == evidence.CredentialRevoked:
			return true
		case c.Status == evidence.CredentialRejected && (c.RejectedAt == nil || !s.succeededSince(*c.RejectedAt)):
			return true
		}
	}
	look := s.lookAtCredential()
	if look != nil && look.Status == evidence.ProbeFailed && !s.succeededSince(look.At) {
		return true
	}
	run := s.LastRun
	if run == nil || run.Status == evidence.RunSucceeded || run.Failure == nil || run.Failure.CredentialFault() == "" || s.replacedSince(run.EndedAt) {
		return false
	}
	accepted := look != nil && look.Status == evidence.ProbeOK && look.At.After(run.EndedAt)
	return !accepted
}

// lookAtCredential is the newest look that still counts.
func (s *situation) lookAtCredential() *evidence.Probe {
	var found *evidence.Probe
	for i := range s.Probes {
		p := &s.Probes[i]
		if p.Dimension == evidence.ProbeCredentials && !s.over(p.ExpiresAt) && (found == nil || p.At.After(found.At)) {
			found = p
		}
	}
	if found != nil && s.replacedSince(found.At) {
		return nil
	}
	return found
}

func (s *situation) succeededSince(t time.Time) bool {
	return s.LastSuccessAt != nil && !s.LastSuccessAt.Before(t)
}

func (s *situation) replacedSince(t time.Time) bool {
	return s.Credential != nil && s.Credential.CapturedAt.After(t)
}
