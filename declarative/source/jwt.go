package source

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
	"github.com/pdpp-go/pdpp/declarative/signature"
)

// usualJWTSeconds is how long a token is valid if the file does not declare it.
const usualJWTSeconds = 1200

// checkJWT returns why an authenticator cannot sign, or nil.
func checkJWT(a *document.JWT) error {
	if signature.CanSign(a.Algorithm) {
		return nil
	}
	return fmt.Errorf("JwtAuthenticator with the algorithm %q %w", a.Algorithm, ErrUnsupported)
}

// signedToken makes the tokens of one authenticator.
type signedToken struct {
	*document.JWT
	program *program
	run     *rest.Run
}

// obtain signs a token that is valid from now on.
func (s *signedToken) obtain(context.Context) (accessToken, error) {
	c := s.program.stateOf(s.run).context(s.JWT)
	key, err := templateText(s.SecretKey, c)
	if err != nil {
		return accessToken{}, err
	}
	if s.EncodeKey {
		key = base64.StdEncoding.EncodeToString([]byte(key))
	}
	s.run.Setup.HideSecret(key)
	text, err := templateText(s.Duration, c)
	if err != nil {
		return accessToken{}, err
	}
	seconds, err := strconv.Atoi(cmp.Or(text, strconv.Itoa(usualJWTSeconds)))
	if err != nil || seconds < 1 {
		return accessToken{}, connectorkit.Fail(connectorkit.Malformed,
			errors.New("token_duration is not a number of seconds"))
	}
	now := s.run.Setup.Now()
	header, err := s.object(c, s.Headers, s.MoreHeaders, "kid", "alg", "typ", "cty")
	if err != nil {
		return accessToken{}, err
	}
	if header.Value().Member("typ").IsNull() {
		header.Set("typ", expression.StringValue("JWT"))
	}
	header.Set("alg", expression.StringValue(s.Algorithm))
	payload, err := s.object(c, s.Payload, s.MorePayload, "iss", "sub", "aud", "iat", "exp", "nbf")
	if err != nil {
		return accessToken{}, err
	}
	lifetime := time.Duration(seconds) * time.Second
	for name, at := range map[string]time.Time{"iat": now, "nbf": now, "exp": now.Add(lifetime)} {
		payload.Set(name, expression.IntValue(at.Unix()))
	}
	encode := base64.RawURLEncoding.EncodeToString
	signed := encode(header.Value().AppendJSON(nil)) + "." + encode(payload.Value().AppendJSON(nil))
	sum, err := signature.Sign(s.Algorithm, key, signed)
	if err != nil {
		return accessToken{}, &connectorkit.Error{Class: connectorkit.Unauthorized, Err: err,
			OwnerMessage: "The key that requests are signed with cannot be used: it " + err.Error() + ". Enter it again."}
	}
	return accessToken{signed + "." + encode(sum), now.Add(lifetime - min(expiryMargin, lifetime/5))}, nil
}

// object returns the members that a file names and its additions, which cannot replace the reserved ones.
func (s *signedToken) object(c *expression.Context, own, more document.Inputs, reserved ...string) (
	*expression.Builder, error) {
	out := expression.NewObject(8)
	for i, inputs := range []document.Inputs{own, more} {
		if !inputs.IsSet() {
			continue
		}
		v, err := inputs.JSON(c)
		if err != nil {
			return nil, connectorkit.Fail(connectorkit.Malformed, err)
		}
		v.Each(func(name string, member expression.Value) bool {
			if i == 1 && slices.Contains(reserved, name) {
				err = connectorkit.Fail(connectorkit.Malformed, fmt.Errorf("the member %q of a token is reserved", name))
			} else if !member.IsNull() && expression.Print(member) != "" {
				out.Set(name, member)
			}
			return err == nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// addSignedToken adds a token where the file wants it.
func addSignedToken(a *document.JWT, state *runState, token string, d *draft) error {
	prefix, err := templateText(a.Prefix, state.context(a))
	if err != nil {
		return err
	}
	if a.Inject != nil {
		return inject(a.Inject, state, expression.StringValue(token), d)
	}
	d.header.Set("Authorization", strings.TrimSpace(prefix+" "+token))
	return nil
}
