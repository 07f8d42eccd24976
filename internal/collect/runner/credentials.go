package runner

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/protocol"
)

const (
	// maxRotations bounds how often a run may replace a credential.
	maxRotations = 100
	// renewalInterval is the least time between two requests for a fresh credential.
	renewalInterval = 30 * time.Second
)

// credentialExchange counts the credentials that the run replaced or requested.
type credentialExchange struct {
	rotations   int
	lastRenewal time.Time
}

// mayRenew reports whether the run may request a fresh credential, and records the request.
func (c *credentialExchange) mayRenew(now time.Time) bool {
	if !c.lastRenewal.IsZero() && now.Sub(c.lastRenewal) < renewalInterval {
		return false
	}
	c.lastRenewal = now
	return true
}

// onCredentialRequest stores a credential that the provider exchanged, before it answers the connector: afterwards
// the provider may reject the old one. The values exist in memory only, and nothing that the run stores or logs
// contains them.
func (s *session) onCredentialRequest(ctx context.Context, m *protocol.CredentialRequest) error {
	if m.Reason == protocol.CredentialExpired {
		s.renewCredential(m.RequestID)
		return nil
	}
	secret := s.spec.Manifest.SecretEnv()
	names := slices.Sorted(maps.Keys(m.Values))
	for _, name := range names {
		if !slices.Contains(secret, name) {
			v := invalidField(m, "", "values of credential variables alone")
			v.Received = quoted(name)
			return v
		}
	}
	if s.exchange.rotations++; s.exchange.rotations > maxRotations {
		return invalidField(m, "", "at most 100 credentials in a run")
	}
	s.secrets.learn(slices.Collect(maps.Values(m.Values))...)
	status := protocol.CredentialNotStored
	if s.spec.Rotate != nil {
		switch err := s.spec.Rotate(ctx, m.Values); {
		case err == nil:
			status = protocol.CredentialStored
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
	}
	s.timeline.note("run.credential_rotated", "", map[string]any{"variables": names, "status": status})
	s.conv.send("credential_response", &protocol.CredentialResponse{RequestID: m.RequestID, Status: status})
	return nil
}

// renewCredential requests a fresh credential for one that the provider rejects. It runs in the background: the
// connector may send further messages. The values exist in memory only and are redacted from then on.
func (s *session) renewCredential(requestID string) {
	if s.spec.Renew == nil || !s.exchange.mayRenew(time.Now()) {
		s.answerRenewal(requestID, nil)
		return
	}
	s.conv.background.Go(func() {
		values, err := s.spec.Renew(s.conv.over)
		if s.conv.over.Err() != nil {
			return // the run has ended
		}
		if err != nil {
			values = nil
		}
		s.conv.touch()
		s.answerRenewal(requestID, values)
	})
}

func (s *session) answerRenewal(requestID string, values map[string]string) {
	answer := &protocol.CredentialResponse{RequestID: requestID, Status: protocol.CredentialNotRenewed}
	if len(values) > 0 {
		answer.Status, answer.Values = protocol.CredentialRenewed, values
		s.secrets.learn(slices.Collect(maps.Values(values))...)
	}
	s.timeline.note("run.credential_renewal", "",
		map[string]any{"variables": slices.Sorted(maps.Keys(values)), "status": answer.Status})
	s.conv.send("credential_response", answer)
}
