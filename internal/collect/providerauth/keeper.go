// Package providerauth signs the owner in at OAuth providers and refreshes the tokens. It is the only package that
// sees a refresh token: connectors get the access token before a run, and another when the provider rejects it.
//
// A refresh token may be valid for one use only, and a provider that sees one twice revokes all of its family. So only
// one caller refreshes a credential at a time, across all processes of one database. It claims the generation that it
// read, with a mark that is committed before the request. It sends one request and commits the new pair under the next
// generation before it is used. A caller that dies in between leaves the mark. When the mark expires, the old token is
// tried once more, and a rejection is reported as such.
package providerauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// Default durations of a Keeper.
const (
	// exclusive is how long one caller may refresh before others try. The request takes at most half of it.
	exclusiveTime = 40 * time.Second
	// firstPause follows the first failure; each further one doubles it up to longestPause.
	firstPause   = 30 * time.Second
	longestPause = time.Hour
	// givenUp is for how long failures are taken for trouble that passes.
	givenUp = 4 * 24 * time.Hour
	// margin is how long before its end a token is refreshed; for a short one a fifth of its life.
	margin = time.Minute
	// pollInterval is how often a waiting caller checks whether another has refreshed the token.
	pollInterval = 100 * time.Millisecond
)

// Store is what a Keeper keeps.
type Store interface {
	store.Credentials
	store.CredentialRefresh
	store.SignIns
	Setting(ctx context.Context, name string) ([]byte, error)
	PutSetting(ctx context.Context, name string, value []byte, now time.Time) error
}

// Keeper signs in and refreshes. It is safe for concurrent use.
type Keeper struct {
	Store Store
	Key   func() (credential.Key, error)
	// Lookup returns the operator's value of a variable of the deployment configuration.
	Lookup func(name string) (string, bool)
	// Transport carries what is sent to providers; nil means the network.
	Transport http.RoundTripper
	Now       func() time.Time // nil: time.Now
	// Alone overrides how long one caller may refresh before others try.
	Alone time.Duration
}

// SignInSource is a connection and what its connector declares.
type SignInSource struct {
	ConnectionID string
	ConnectorID  string
	Manifest     *manifest.Manifest
	// PublicOnly exchanges tokens with public addresses only, whatever a name resolves to: a file names the provider.
	PublicOnly bool
}

// AccessToken is an access token and which one it is.
type AccessToken struct {
	Token      credential.Secret
	Generation int64
	CapturedAt time.Time
}

// Access returns the connection's access token. It refreshes a token that is about to expire, or one of the generation
// that the provider rejected; zero means that none was rejected. The error is store.ErrNotFound without a sign-in,
// *Rejected when only the owner can help, and *Trouble when the provider could not be reached.
func (k *Keeper) Access(ctx context.Context, s SignInSource, refused int64) (AccessToken, error) {
	key, err := k.Key()
	if err != nil {
		return AccessToken{}, fmt.Errorf("load the key that seals credentials: %w", err)
	}
	for {
		c, err := k.Store.Credential(ctx, s.ConnectionID)
		if err != nil {
			return AccessToken{}, err
		}
		if c.Status == store.CredentialRevoked {
			return AccessToken{}, store.ErrNotFound
		}
		have, err := credential.OpenTokens(key, s.ConnectionID, c.Sealed)
		if err != nil {
			return AccessToken{}, err
		}
		access := AccessToken{have.Access, c.Generation, c.CapturedAt}
		now := k.now()
		ended := c.Generation == refused || c.Refresh.ExpiresAt != nil && !now.Before(*c.Refresh.ExpiresAt)
		switch {
		case c.Status == store.CredentialRejected:
			return AccessToken{}, &Rejected{Reason: c.RejectionReason}
		case !ended && !soon(have, c.Refresh.ExpiresAt, now):
			return access, nil
		case have.Refresh.Reveal() == "" && !ended:
			return access, nil // to the last: the owner has been asked to sign in again
		case have.Refresh.Reveal() == "":
			return AccessToken{}, k.reject(ctx, c, ReasonExpired, now)
		case c.Refresh.NextAt != nil && now.Before(*c.Refresh.NextAt):
			if !ended {
				return access, nil
			}
			return AccessToken{}, &Trouble{Until: *c.Refresh.NextAt}
		}
		err = k.refresh(ctx, s, key, c)
		var busy *store.RefreshActiveError
		var trouble *Trouble
		switch {
		case err == nil, errors.Is(err, store.ErrStale): // this caller or another has stored it
		case errors.As(err, &busy):
			if err := wait(ctx, min(pollInterval, max(busy.Until.Sub(now), time.Millisecond))); err != nil {
				return AccessToken{}, err
			}
		case errors.As(err, &trouble) && !ended:
			return access, nil
		default:
			return AccessToken{}, err
		}
	}
}

// soon reports whether the access token is about to end.
func soon(have credential.Tokens, ends *time.Time, now time.Time) bool {
	if ends == nil {
		return false
	}
	before := margin
	if have.Lifetime > 0 {
		before = min(before, have.Lifetime/5)
	}
	return !now.Before(ends.Add(-before))
}

// refresh exchanges the refresh token of the credential's generation, once.
func (k *Keeper) refresh(ctx context.Context, s SignInSource, key credential.Key, c store.Credential) error {
	app, err := k.App(ctx, s)
	if err != nil {
		return err
	}
	// What is begun is ended, whatever becomes of the run that asked for it. Its time runs from
	// before the claim: who was held up in between finds it over, and sends nothing.
	ctx = context.WithoutCancel(ctx)
	limit := k.exclusiveTime()
	calling, cancel := context.WithTimeout(ctx, limit/2)
	defer cancel()
	now := k.now()
	c, err = k.Store.BeginRefresh(ctx, c.ConnectionID, c.Generation, now.Add(limit), now)
	if err != nil {
		return err
	}
	have, err := credential.OpenTokens(key, c.ConnectionID, c.Sealed)
	if err != nil {
		return err
	}
	answer, err := k.exchangeRefresh(calling, s, app, have.Refresh)
	now = k.now()
	if err == nil {
		fresh := mergeTokens(answer, s.Manifest.OAuth(), have)
		c.Sealed, c.Fingerprint, c.Refresh = fresh.SealFor(key, c.ConnectionID), fresh.Fingerprint(key),
			refreshStatus(fresh, now)
		return k.commit(ctx, c)
	}
	var refusal *answerError
	if errors.As(err, &refusal) && refusal.Code == "invalid_grant" {
		reason := ReasonWithdrawn
		if c.Refresh.Unanswered {
			reason = ReasonInterrupted
		}
		return k.reject(ctx, c, reason, now)
	}
	if since := c.Refresh.FailingSince; since != nil && now.Sub(*since) >= givenUp {
		return k.reject(ctx, c, ReasonFailing, now)
	}
	next := now.Add(pauseAfter(c.Refresh.Failures + 1))
	if err := k.Store.FailRefresh(ctx, c.ConnectionID, c.Generation,
		store.RefreshFailure{At: now, Next: next, Unanswered: refusal == nil ||
			refusal.Status >= http.StatusInternalServerError}); err != nil {
		return err
	}
	return &Trouble{Until: next, err: err}
}

// Pauses between attempts to store an answer, which is worth more than anything else.
const (
	storePause    = 100 * time.Millisecond
	storeAttempts = 50
)

// commit makes the new pair durable. A storage that fails is tried again: without the pair the
// connection is lost.
func (k *Keeper) commit(ctx context.Context, c store.Credential) error {
	err := k.Store.SaveRefreshed(ctx, c)
	for n := 1; n < storeAttempts && err != nil && !store.IsPermanentError(err); n++ {
		if err := wait(ctx, storePause); err != nil {
			return err
		}
		err = k.Store.SaveRefreshed(ctx, c)
	}
	if err != nil {
		return fmt.Errorf("store the refreshed tokens: %w", err)
	}
	return nil
}

// pauseAfter is how long nothing is tried after so many failures in a row.
func pauseAfter(failures int) time.Duration {
	pause := firstPause
	for ; failures > 1 && pause < longestPause; failures-- {
		pause *= 2
	}
	return min(pause, longestPause)
}

// reject records that only the owner can help. A mark stays: no caller refreshes a rejected credential, and the next
// sign-in clears it.
func (k *Keeper) reject(ctx context.Context, c store.Credential, reason string, now time.Time) error {
	err := k.Store.RejectCredential(ctx, c.ConnectionID, reason, c.CapturedAt, now)
	if errors.Is(err, store.ErrNotFound) {
		return store.ErrStale // another sign-in took its place
	}
	if err != nil {
		return fmt.Errorf("record that the sign-in has ended: %w", err)
	}
	return &Rejected{Reason: reason}
}

// refreshStatus returns the refresh status of fresh tokens.
func refreshStatus(t credential.Tokens, now time.Time) store.Refresh {
	r := store.Refresh{Renewable: t.Refresh.Reveal() != ""}
	if t.Lifetime > 0 {
		ends := now.Add(t.Lifetime)
		r.ExpiresAt = &ends
	}
	return r
}

func (k *Keeper) now() time.Time {
	if k.Now != nil {
		return k.Now()
	}
	return time.Now()
}

func (k *Keeper) exclusiveTime() time.Duration {
	if k.Alone > 0 {
		return k.Alone
	}
	return exclusiveTime
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
