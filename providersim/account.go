package providersim

import (
	"fmt"
	"net/http"
)

// Account is what every simulated provider with bearer tokens has: its tokens, and its API
// behind a gate. A provider embeds one and mounts its routes.
type Account struct {
	Tokens *Tokens
	gate   *Gate
	api    http.Handler
}

// NewAccount returns an account for the tokens. By default requests are labelled by their bearer token.
func NewAccount(tokens *Tokens, options GateOptions) *Account {
	if options.Label == nil {
		options.Label = func(r *http.Request) string { return tokens.Label(r.Header.Get("Authorization")) }
	}
	return &Account{Tokens: tokens, gate: NewGate(options)}
}

// Mount puts the provider's routes behind the gate.
func (a *Account) Mount(routes *http.ServeMux) { a.api = a.gate.Wrap(routes) }

// Handler serves the provider's API.
func (a *Account) Handler() http.Handler { return a.api }

// Gate returns the gate, which has faults and counters.
func (a *Account) Gate() *Gate { return a.gate }

// Token returns the current access token.
func (a *Account) Token() string { return a.Tokens.Current().Token }

// ChangeToken rotates, expires, revokes or narrows the current token.
func (a *Account) ChangeToken(c TokenChange) (TokenStatus, error) { return a.Tokens.Change(c) }

// Simulator is a provider that can be served.
type Simulator interface {
	Provider
	Handler() http.Handler
	Gate() *Gate
}

// Running is a simulator that is served, with its control port.
type Running[S Simulator] struct {
	*Server
	Sim S
}

// Start serves a simulator and its control port on loopback addresses, as [Serve] does.
func Start[S Simulator](name string, sim S, addr, controlAddr string) (*Running[S], error) {
	s, err := Serve(addr, sim.Handler(), controlAddr, ControlHandler(sim, sim.Gate()))
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return &Running[S]{Server: s, Sim: sim}, nil
}
