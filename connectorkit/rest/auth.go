package rest

import (
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// Authenticator adds a credential to the client of a run: a header, a token that is refreshed, a signature.
type Authenticator interface {
	Authorize(s *connectorkit.Setup, o *governhttp.Options) error
}

// AuthenticatorFunc is an Authenticator that is a function.
type AuthenticatorFunc func(s *connectorkit.Setup, o *governhttp.Options) error

// Authorize calls f.
func (f AuthenticatorFunc) Authorize(s *connectorkit.Setup, o *governhttp.Options) error {
	return f(s, o)
}

// AccessToken sends the token of a variable as a bearer token. The runner replaces a token that was refused.
type AccessToken string

// Authorize implements Authenticator.
func (a AccessToken) Authorize(s *connectorkit.Setup, o *governhttp.Options) error {
	o.Token = s.Token(string(a))
	return nil
}

// HeaderKey sends the value of a variable in a header, without spaces around it, between a prefix and a suffix.
type HeaderKey struct {
	Header, Prefix, Variable, Suffix string
}

// BearerKey sends a token that the owner typed, which does not expire.
func BearerKey(variable string) HeaderKey {
	return HeaderKey{Header: "Authorization", Prefix: "Bearer ", Variable: variable}
}

// Authorize implements Authenticator.
func (k HeaderKey) Authorize(s *connectorkit.Setup, o *governhttp.Options) error {
	setHeader(o, k.Header, k.Prefix+strings.TrimSpace(s.Env(k.Variable))+k.Suffix)
	return nil
}

// QueryKey sends the value of a variable as a parameter of every request. Addresses in errors and logs omit it.
type QueryKey struct {
	Param, Variable string
}

// Authorize implements Authenticator.
func (k QueryKey) Authorize(s *connectorkit.Setup, o *governhttp.Options) error {
	value := s.Env(k.Variable)
	s.HideSecret(value)
	o.Sign = func(r *http.Request) {
		q := r.URL.Query()
		q.Set(k.Param, value)
		r.URL.RawQuery = q.Encode()
	}
	return nil
}

// BasicAuth sends a name and a password.
type BasicAuth struct {
	User, Password string // variables; an empty one is an empty text
	// Word is the password instead, for a provider that takes a token as the name and the same word from everyone.
	Word string
}

// Authorize implements Authenticator.
func (b BasicAuth) Authorize(s *connectorkit.Setup, o *governhttp.Options) error {
	user, password := "", b.Word
	if b.User != "" {
		user = s.Env(b.User)
	}
	if b.Password != "" {
		password = s.Env(b.Password)
	}
	code := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
	s.HideSecret(code)
	setHeader(o, "Authorization", "Basic "+code)
	return nil
}

func setHeader(o *governhttp.Options, name, value string) {
	if o.Header == nil {
		o.Header = http.Header{}
	}
	o.Header.Set(name, value)
}
