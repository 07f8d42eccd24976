package connectorkit

import (
	"context"
	"sync"

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
		m, err := s.r.ask(ctx, protocol.TypeCredentialResponse, func(id string) protocol.Message {
			return &protocol.CredentialRequest{RequestID: id, Reason: protocol.CredentialExpired}
		})
		if err != nil {
			return "", err
		}
		if fresh := m.(*protocol.CredentialResponse).Values[name]; fresh != "" {
			s.r.secrets.hide(fresh)
			current = fresh
		}
		return current, nil
	}
}
