package declarative

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
)

// signIn is an address that exchanges a credential for a token.
type signIn struct {
	method string
	want   flat // what a request must have
	make   func(token string, in flat) (any, bool)
	issued []string
}

// addSignIns adds the addresses at which the streams of the document obtain tokens. Equal addresses are one.
func (p *Provider) addSignIns(c document.Component) {
	switch a := c.(type) {
	case *document.Selective:
		for _, choice := range a.Authenticators {
			p.addSignIns(choice)
		}
	case *document.OAuth:
		p.addOAuth(a)
	case *document.SessionToken:
		p.addLogin(a)
	}
}

// IssueToken issues a token of the only sign-in, as after a sign-in that the server carried out.
func (p *Provider) IssueToken() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	token := ""
	for _, s := range p.signIns {
		token = fmt.Sprintf("issued-%d", len(s.issued)+1)
		s.issued = append(s.issued, token)
	}
	return token
}

// signInID identifies the sign-in of an authenticator.
func (p *Provider) signInID(c document.Component) string {
	switch a := c.(type) {
	case *document.OAuth:
		return "oauth " + p.text(a.TokenEndpoint, a) + " " + p.text(a.ClientID, a)
	case *document.SessionToken:
		return "login " + address(a.Login, p.context(a.Login))
	}
	return ""
}

func (p *Provider) addOAuth(a *document.OAuth) {
	id := p.signInID(a)
	if p.signIns[id] != nil || !a.TokenEndpoint.IsSet() {
		return
	}
	name := func(t document.Template, usual string) string { return cmp.Or(p.text(t, a), usual) }
	place := "f:"
	if a.RefreshAsQuery {
		place = "q:"
	}
	s := &signIn{method: http.MethodPost, want: flat{values: map[string]string{}}}
	s.want.setAddress(p.text(a.TokenEndpoint, a))
	grant := name(a.GrantType, "refresh_token")
	s.want.values[place+name(a.GrantTypeName, "grant_type")] = grant
	refresh := p.text(a.RefreshToken, a)
	if a.Updater != nil {
		path := a.Updater.RefreshTokenPath
		if len(path) == 0 {
			path = []string{"credentials", "refresh_token"}
		}
		refresh = expression.Print(memberAt(p.config, path))
	}
	refreshName := name(a.RefreshTokenName, "refresh_token")
	s.make = func(token string, in flat) (any, bool) {
		if sent := in.values[place+refreshName]; grant == "refresh_token" && sent != refresh {
			return nil, false
		}
		out := map[string]any{name(a.AccessTokenName, "access_token"): token, "token_type": "bearer",
			name(a.ExpiresInName, "expires_in"): 3600}
		if a.Updater != nil {
			refresh = "fresh-" + token
			out[cmp.Or(a.Updater.RefreshTokenName, refreshName)] = refresh
		}
		return out, true
	}
	p.signIns[id] = s
}

func (p *Provider) addLogin(a *document.SessionToken) {
	id := p.signInID(a)
	if p.signIns[id] != nil {
		return
	}
	c := p.context(a.Login)
	s := &signIn{method: cmp.Or(a.Login.Method, http.MethodGet), want: flat{values: map[string]string{}}}
	s.want.setAddress(address(a.Login, c))
	addDeclared(a.Login, c, &s.want)
	s.make = func(token string, in flat) (any, bool) {
		out := map[string]any{}
		setAt(out, a.TokenPath, token)
		return out, p.credentialFits(a.Login.Authenticator, in)
	}
	p.signIns[id] = s
}

// serveSignIn answers a request for a token and reports whether it was one.
func (p *Provider) serveSignIn(w http.ResponseWriter, method string, in flat) bool {
	for _, s := range p.signIns {
		if s.method != method || !s.isAt(in) {
			continue
		}
		token := fmt.Sprintf("issued-%d", len(s.issued)+1)
		for place, want := range s.want.values {
			if in.values[place] != want {
				refuse(w, http.StatusBadRequest, "the sign-in is not as the document describes it: "+place)
				return true
			}
		}
		body, ok := s.make(token, in)
		if !ok {
			refuse(w, http.StatusBadRequest, "the credential is not the one of the settings")
			return true
		}
		s.issued = append(s.issued, token)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(encode(body))
		return true
	}
	return false
}

// isAt reports whether a request has the path of the sign-in.
func (s *signIn) isAt(in flat) bool {
	paths := func(f flat) (out []string) {
		for place, v := range f.values {
			if strings.HasPrefix(place, "p:") {
				out = append(out, place+v)
			}
		}
		slices.Sort(out)
		return out
	}
	return slices.Equal(paths(s.want), paths(in))
}

// tokenFits reports whether a request has a token that the provider issued for an authenticator.
func (p *Provider) tokenFits(c document.Component, in flat) bool {
	s := p.signIns[p.signInID(c)]
	a, isOAuth := c.(*document.OAuth)
	if isOAuth && !a.TokenEndpoint.IsSet() {
		return in.values["h:Authorization"] == "Bearer "+p.text(a.AccessToken, a)
	}
	if isOAuth && a.AccessToken.IsSet() && in.values["h:Authorization"] == "Bearer "+p.text(a.AccessToken, a) {
		return true
	}
	if s == nil {
		return false
	}
	for _, token := range s.issued {
		want := flat{values: map[string]string{"h:Authorization": "Bearer " + token}}
		if session, ok := c.(*document.SessionToken); ok {
			if key, ok := session.Request.(*document.SessionKey); ok {
				want.values = map[string]string{}
				text := token
				if key.Token.IsSet() {
					context := p.context(key)
					context.Set(expression.SessionToken, expression.StringValue(token))
					text, _ = key.Token.Text(context) // a template that fails fits no request
				}
				p.inject(key.Inject, expression.StringValue(text), &want)
			}
		}
		fits := true
		for place, text := range want.values {
			fits = fits && in.values[place] == text
		}
		if fits {
			return true
		}
	}
	return false
}
