package runner

import (
	"context"
	"maps"
	"slices"

	"github.com/pdpp-go/pdpp/protocol"
)

// maxRotations bounds how often a run may hand over a credential.
const maxRotations = 100

// rotated stores a credential that the provider exchanged for the one that the run was given,
// before the connector hears of it and goes on: from then on the old one may be refused. The
// values pass through memory only; whatever the run leaves behind is without them.
func (s *session) rotated(ctx context.Context, m *protocol.CredentialRequest) error {
	if m.Reason == protocol.CredentialExpired {
		return s.renew(m)
	}
	secret := s.spec.Manifest.SecretEnv()
	names := slices.Sorted(maps.Keys(m.Values))
	for _, name := range names {
		if !slices.Contains(secret, name) {
			return &protocol.Violation{Subtype: protocol.InvalidField, MessageType: m.Type(), Expected: []string{"values of credential variables alone"}, Received: quoted(name)}
		}
	}
	if s.rotations++; s.rotations > maxRotations {
		return &protocol.Violation{Subtype: protocol.InvalidField, MessageType: m.Type(), Expected: []string{"at most 100 credentials in a run"}}
	}
	s.learn(slices.Collect(maps.Values(m.Values))...)
	status := protocol.CredentialNotStored
	if s.spec.Rotate != nil {
		switch err := s.spec.Rotate(ctx, m.Values); {
		case err == nil:
			status = protocol.CredentialStored
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
	}
	s.note("run.credential_rotated", "", map[string]any{"variables": names, "status": status})
	s.send("credential_response", &protocol.CredentialResponse{RequestID: m.RequestID, Status: status})
	return nil
}
