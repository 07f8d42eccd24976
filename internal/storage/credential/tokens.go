package credential

import (
	"encoding/json"
	"time"
)

// Tokens are the OAuth tokens that a provider issued. They are sealed differently from Values, so that a refresh
// token can never be passed to a connector as a variable.
type Tokens struct {
	Access  Secret
	Refresh Secret // empty when it cannot be refreshed
	// Lifetime is how long the access token was valid when issued; zero when unknown.
	Lifetime time.Duration
	// Scope is what the provider granted, in its own terms; empty when it did not say.
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
		panic(err) // impossible: strings and a number always encode
	}
	return k.Seal(tokensPlace(connectionID), b)
}

// Fingerprint identifies the tokens without revealing them.
func (t Tokens) Fingerprint(k Key) string {
	return k.FingerprintOf(Values{"access_token": t.Access, "refresh_token": t.Refresh})
}

// OpenTokens opens what SealFor sealed for the same connection.
func OpenTokens(k Key, connectionID string, sealed []byte) (Tokens, error) {
	text, err := k.Open(tokensPlace(connectionID), sealed)
	if err != nil {
		return Tokens{}, err
	}
	var p plainTokens
	if err := json.Unmarshal(text, &p); err != nil {
		return Tokens{}, damagedError() // not the decoder's error, which would quote the content
	}
	return Tokens{NewSecret(p.Access), NewSecret(p.Refresh), time.Duration(p.Lifetime) * time.Second, p.Scope}, nil
}
