package grants

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// codeLife is how long an app has to exchange its code.
const codeLife = time.Minute

// Decision is the owner's answer to a request. The end is that of the grant; zero means
// the one that the request was shown with.
type Decision struct {
	Approve bool
	// Streams is what the owner chose. If it is empty, a request that names its streams is granted as it is.
	Streams GrantedStreams
	End
}

// Decide answers a request. It returns the address to which the browser returns, with a code or the refusal, and the
// grant's id, empty if refused.
func (b *Service) Decide(ctx context.Context, id string, d Decision) (redirect, grantID string, err error) {
	kept, err := b.waiting(ctx, id)
	if err != nil {
		return "", "", err
	}
	now := b.now().UTC()
	issuer, err := b.issuerName(ctx)
	if err != nil {
		return "", "", err
	}
	answer := url.Values{"iss": {issuer}}
	if kept.State != "" {
		answer.Set("state", kept.State)
	}
	if d.Approve {
		var code string
		if grantID, code, err = b.approve(ctx, kept, d, now); err != nil {
			return "", "", err
		}
		answer.Set("code", code)
	} else {
		if err := b.store.DecideGrantRequest(ctx, id, nil, nil, time.Time{}, now); err != nil {
			return "", "", decided(err)
		}
		answer.Set("error", "access_denied")
	}
	u, err := url.Parse(kept.RedirectURI)
	if err != nil {
		return "", "", fmt.Errorf("read redirect address: %w", err)
	}
	if u.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += answer.Encode()
	return u.String(), grantID, nil
}

// addressSetting is the setting with the address of the server that started last.
const addressSetting = "server_address"

// issuerName returns the address by which apps know the server. A command on the server's machine may not know it, and
// reads the one that the server stored.
func (b *Service) issuerName(ctx context.Context) (string, error) {
	if b.issuer != "" {
		return b.issuer, nil
	}
	kept, err := b.store.Setting(ctx, addressSetting)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return "", fmt.Errorf("read the server's address: %w", err)
	}
	return string(kept), nil
}

func (b *Service) approve(ctx context.Context, kept store.GrantRequest, d Decision, now time.Time) (grantID,
	code string, err error) {
	end := d.End
	r, err := b.resolve(ctx, kept)
	if err != nil {
		return "", "", err
	}
	if len(r.Scope) == 0 {
		return "", "", invalid("streams", "There is nothing here of what the app asks for.",
			"Connect the source first, or deny the request.")
	}
	scope, err := b.chosen(ctx, r, d.Streams)
	if err != nil {
		return "", "", err
	}
	if end == (End{}) {
		end.At = r.ExpiresAt
	}
	expires, err := end.after(now)
	if err != nil {
		return "", "", err
	}
	g := store.Grant{
		ID: newID("gr_"), ClientID: r.ClientID, ClientName: r.ClientName, Purpose: r.Purpose, Mode: r.Mode,
		CreatedAt: now, ExpiresAt: expires,
	}
	if g.Scope, err = json.Marshal(scope); err != nil {
		return "", "", fmt.Errorf("write scope: %w", err)
	}
	code, hash := newSecret(codePrefix + string(audienceOfRequest(kept.ID)))
	if err := b.store.DecideGrantRequest(ctx, kept.ID, &g, hash, now.Add(codeLife), now); err != nil {
		return "", "", decided(err)
	}
	if err := b.clientUsed(ctx, r.ClientID, true, now); err != nil {
		return "", "", err
	}
	return g.ID, code, nil
}

func decided(err error) error {
	if errors.Is(err, store.ErrExists) {
		return errDecided()
	}
	return fmt.Errorf("keep the answer: %w", err)
}

var verifierForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9._~-]{43,128}$`) })

// CodeAudience returns the audience that a code was made for.
func CodeAudience(code string) Audience {
	a, _ := audienceOf(codePrefix, code)
	return a
}

// Redeem exchanges a code for the grant's token, once. A repeated code was copied, so it ends the grant.
func (b *Service) Redeem(ctx context.Context, code, verifier, clientID, redirectURI string) (Grant, string, error) {
	refused := Refused(CodeInvalidGrant, "code", "The code cannot be exchanged.", "Start again from the app.")
	audience, ok := audienceOf(codePrefix, code)
	if !ok || !verifierForm().MatchString(verifier) {
		return Grant{}, "", refused
	}
	check := func(r store.GrantRequest) error {
		if r.ClientID != clientID || r.RedirectURI != redirectURI || !verifierMatches(verifier, r.CodeChallenge) {
			return refused
		}
		return nil
	}
	token, hash := newSecret(TokenPrefix + string(audience))
	kept, err := b.store.RedeemCode(ctx, hashOf(code), hash, check, b.now().UTC())
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrExists), errors.Is(err, refused):
		return Grant{}, "", refused
	case err != nil:
		return Grant{}, "", fmt.Errorf("redeem code: %w", err)
	}
	g, err := readGrant(kept, b.now())
	if err == nil && g.Status != Active {
		err = refused
	}
	if err != nil {
		return Grant{}, "", err
	}
	return g, token, nil
}

// verifierMatches reports whether the challenge was made from the verifier.
func verifierMatches(verifier, challenge string) bool {
	sum := sha256.Sum256([]byte(verifier))
	return subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(challenge)) == 1
}

// Inspect returns the grant of a token, whatever its status.
func (b *Service) Inspect(ctx context.Context, token string) (Grant, error) {
	return b.byToken(ctx, token)
}
