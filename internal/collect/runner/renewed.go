package runner

import (
	"maps"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/protocol"
)

// renewEvery is how often a run may ask for a fresh credential.
const renewEvery = 30 * time.Second

// renew asks for a fresh credential in the place of the one that the provider refuses, beside the
// dialogue: the connector may go on speaking. The values pass through memory only, and are known as
// secrets before the connector has them.
func (s *session) renew(m *protocol.CredentialRequest) error {
	now := time.Now()
	if s.spec.Renew == nil || !s.renewed.IsZero() && now.Sub(s.renewed) < renewEvery {
		s.answerRenewal(m.RequestID, nil)
		return nil
	}
	s.renewed = now
	s.background.Go(func() {
		values, err := s.spec.Renew(s.over)
		if s.over.Err() != nil {
			return // nobody waits for it any more
		}
		if err != nil {
			values = nil
		}
		s.touch()
		s.answerRenewal(m.RequestID, values)
	})
	return nil
}

func (s *session) answerRenewal(requestID string, values map[string]string) {
	answer := &protocol.CredentialResponse{RequestID: requestID, Status: protocol.CredentialNotRenewed}
	if len(values) > 0 {
		answer.Status, answer.Values = protocol.CredentialRenewed, values
		s.learn(slices.Collect(maps.Values(values))...)
	}
	s.note("run.credential_renewal", "", map[string]any{"variables": slices.Sorted(maps.Keys(values)), "status": answer.Status})
	s.send("credential_response", answer)
}
