package source

import (
	"context"
	"encoding/base64"
	"fmt"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
)

// checkCredential returns why an authenticator cannot be used, or nil.
func checkCredential(c document.Component) error {
	switch a := c.(type) {
	case nil, *document.NoAuth, *document.Bearer, *document.Basic, *document.APIKey, *document.LegacySession:
		return nil
	case *document.OAuth:
		return checkOAuth(a)
	case *document.JWT:
		return checkJWT(a)
	case *document.SessionToken:
		return checkLogin(a)
	case *document.Selective:
		for _, choice := range a.Authenticators {
			if checkCredential(choice) == nil {
				return nil
			}
		}
	}
	return fmt.Errorf("%s %w", document.BaseOf(c).Type, ErrUnsupported)
}

// chosenCredential returns the authenticator that the owner's settings choose.
func (state *runState) chosenCredential(c document.Component) (document.Component, error) {
	s, ok := c.(*document.Selective)
	if !ok {
		return c, nil
	}
	chosen := expression.Print(memberAt(state.config, s.SelectionPath))
	if choice, ok := s.Authenticators[chosen]; ok && checkCredential(choice) == nil {
		return state.chosenCredential(choice)
	}
	return nil, &connectorkit.Error{Class: connectorkit.Unauthorized,
		OwnerMessage: "The chosen way to sign in cannot be used here. Choose another one."}
}

// addCredential adds the owner's credential to a request.
func (p *program) addCredential(ctx context.Context, r *rest.Run, c document.Component, d *draft) error {
	state := p.stateOf(r)
	c, err := state.chosenCredential(c)
	if err != nil {
		return err
	}
	switch a := c.(type) {
	case nil, *document.NoAuth:
		return nil
	case *document.Bearer:
		token, err := templateText(a.Token, state.context(a))
		if err != nil {
			return err
		}
		d.setBearer(token)
		return nil
	case *document.Basic:
		context := state.context(a)
		user, err := templateText(a.Username, context)
		if err != nil {
			return err
		}
		password, err := templateText(a.Password, context)
		if err != nil {
			return err
		}
		code := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
		d.header.Set("Authorization", "Basic "+code)
		d.secrets = append(d.secrets, code, password)
		return nil
	case *document.APIKey:
		return addKey(a, state, d)
	case *document.OAuth:
		if p.ServerSignIn != nil {
			return nil // the client of the run has the token that the server obtained
		}
		return p.addToken(ctx, r, c, d)
	case *document.JWT, *document.SessionToken, *document.LegacySession:
		return p.addToken(ctx, r, c, d)
	}
	return fmt.Errorf("%s %w", document.BaseOf(c).Type, ErrUnsupported)
}

func (d *draft) setBearer(token string) {
	d.header.Set("Authorization", "Bearer "+token)
	d.secrets = append(d.secrets, token)
}

func addKey(a *document.APIKey, state *runState, d *draft) error {
	context := state.context(a)
	key, err := templateText(a.Token, context)
	if err != nil {
		return err
	}
	d.secrets = append(d.secrets, key)
	if a.Inject != nil {
		return inject(a.Inject, state, expression.StringValue(key), d)
	}
	header, err := templateText(a.Header, context)
	if err == nil && header != "" {
		d.header.Set(header, key)
	}
	return err
}
