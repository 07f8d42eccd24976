package connectorkit

import (
	"context"
	"sync"

	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// Token returns the access token of a variable, for Options.Token: the run's token or, after the provider refuses
// it, a fresh one from the runner. A caller that was refused with an already replaced token gets the newer one.
func (s *Setup) Token(name string) governhttp.Token {
	var mu sync.Mutex
	current := s.Env(name)
	return func(ctx context.Context, refused string) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if refused == "" || refused != current {
			return current, nil
		}
		m, err := s.r.RequestReply(ctx, protocol.TypeCredentialResponse, func(id string) protocol.Message {
			return &protocol.CredentialRequest{RequestID: id, Reason: protocol.CredentialExpired}
		})
		if err != nil {
			return "", err
		}
		if fresh := m.(*protocol.CredentialResponse).Values[name]; fresh != "" {
			s.r.HideSecret(fresh)
			current = fresh
		}
		return current, nil
	}
}

// Rotate passes on a credential that the provider exchanged for that of this run, by variable, and waits until it is
// stored. It returns ErrNotStored if nothing is stored that could be replaced.
func (s *Setup) Rotate(ctx context.Context, values map[string]string) error {
	return storeRotated(ctx, s.r, values)
}

func storeRotated(ctx context.Context, r *runstate.Run, values map[string]string) error {
	for _, value := range values {
		r.HideSecret(value)
	}
	m, err := r.RequestReply(ctx, protocol.TypeCredentialResponse, func(id string) protocol.Message {
		return &protocol.CredentialRequest{RequestID: id, Reason: protocol.CredentialRotated, Values: values}
	})
	if err != nil {
		return err
	}
	if m.(*protocol.CredentialResponse).Status != protocol.CredentialStored {
		return ErrNotStored
	}
	return nil
}
