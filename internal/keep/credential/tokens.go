package credential

import (
	"encoding/json"
	"time"
)

// Tokens are what a provider gave for the owner's consent. They are sealed apart from Values:
// what holds a refresh token can never be taken for the variables of a connector.
type Tokens struct {
	Access  Secret
	Refresh Secret // empty: it cannot be refreshed
	// Lifetime is how long the access token was good for when it was made; zero when unknown.
	Lifetime time.Duration
	// Scope is what was allowed, in the provider's words; empty when it did not say.
	Scope string
}

type plainTokens struct {
	Access   string `json:"access_token"`
	Refresh  string `json:"refresh_token,omitempty"`
	Lifetime int64  `json:"lifetime_seconds,omitempty"`
	Scope    string `json:"scope,omitempty"`
}

func tokensPlace(connectionID string) string { return "tokens/" + connectionID }

// SealFor seals the tokens for one connection.
func (t Tokens) SealFor(k Key, connectionID string) []byte {
	b, err := json.Marshal(plainTokens{t.Access.Reveal(), t.Refresh.Reveal(), int64(t.Lifetime / time.Second), t.Scope})
	if err != nil {
		panic(err) // strings and a number always encode
	}
	return k.Seal(tokensPlace(connectionID), b)
}

// Fingerprint names the tokens without telling them.
func (t Tokens) Fingerprint(k Key) string {
	return k.FingerprintOf(Values{"access_token": t.Access, "refresh_token": t.Refresh})
}

// OpenTokens opens what SealFor made for the same connection.
func OpenTokens(k Key, connectionID string, sealed []byte) (Tokens, error) {
	text, err := k.Open(tokensPlace(connectionID), sealed)
	if err != nil {
		return Tokens{}, err
	}
	var p plainTokens
	if err := json.Unmarshal(text, &p); err != nil {
		return Tokens{}, damaged() // not of the decoder's making: its text would show what it met
	}
	return Tokens{NewSecret(p.Access), NewSecret(p.Refresh), time.Duration(p.Lifetime) * time.Second, p.Scope}, nil
}
