// Package providerauth signs the owner in at providers that speak OAuth, and keeps the tokens
// that come of it fresh. It is the only place that sees a refresh token: connectors are given the
// access token, before a run and when the provider refuses the one they have.
//
// A refresh token may be good for one use, and a provider that sees one twice revokes all of its
// family. So one caller at a time refreshes a credential, of all processes over one database: it
// claims the generation that it read, with a mark that is committed before the provider is asked,
// asks once, and commits the new pair under the next generation before anybody gets to use it.
// Whoever dies in between leaves the mark: when its time is over the old token is tried once more,
// and a refusal is told as what it is.
package providerauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/keep/credential"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// What is waited for, unless the Keeper says otherwise.
const (
	// alone is how long one caller has a refresh to itself. The call takes at most half of it.
	alone = 40 * time.Second
	// firstPause follows the first failure; each further one doubles it up to longestPause.
	firstPause   = 30 * time.Second
	longestPause = time.Hour
	// givenUp is for how long failures are taken for trouble that passes.
	givenUp = 4 * 24 * time.Hour
	// margin is how long before its end a token is refreshed; for a short one a fifth of its life.
	margin = time.Minute
	// again is how often it is looked whether somebody else has refreshed it.
	again = 100 * time.Millisecond
)

// Store is what a Keeper keeps.
type Store interface {
	store.Credentials
	store.Refreshing
	store.SignIns
	Setting(ctx context.Context, name string) ([]byte, error)
	PutSetting(ctx context.Context, name string, value []byte, now time.Time) error
}

// Keeper signs in and refreshes. It is safe for concurrent use.
type Keeper struct {
	Store Store
	Key   func() (credential.Key, error)
	// Lookup gives what the operator set for a variable of the deployment configuration.
	Lookup func(name string) (string, bool)
	// Transport carries what is sent to providers; nil means the network.
	Transport http.RoundTripper
	Now       func() time.Time // nil: time.Now
	// Alone overrides how long one caller has a refresh to itself.
	Alone time.Duration
}

// Source is a connection and what its connector declares.
type Source struct {
	ConnectionID string
	ConnectorID  string
	Manifest     *manifest.Manifest
}

// Access is an access token and which one it is.
type Access struct {
	Token      credential.Secret
	Generation int64
	CapturedAt time.Time
}

// Access gives the connection's access token, refreshed where it is about to end, or where it is
// of the generation that the provider refused; zero means that none was refused. The error is
// store.ErrNotFound without a sign-in, *Rejected when only the owner can help, and *Trouble
// when the provider could not be asked.
func (k *Keeper) Access(ctx context.Context, s Source, refused int64) (Access, error) {
	key, err := k.Key()
	if err != nil {
		return Access{}, fmt.Errorf("load the key that seals credentials: %w", err)
	}
	for {
		c, err := k.Store.Credential(ctx, s.ConnectionID)
		if err != nil {
			return Access{}, err
		}
		if c.Status == store.CredentialRevoked {
			return Access{}, store.ErrNotFound
		}
		have, err := credential.OpenTokens(key, s.ConnectionID, c.Sealed)
		if err != nil {
			return Access{}, err
		}
		access := Access{have.Access, c.Generation, c.CapturedAt}
		now := k.now()
		ended := c.Generation == refused || c.Refresh.ExpiresAt != nil && !now.Before(*c.Refresh.ExpiresAt)
		switch {
		case c.Status == store.CredentialRejected:
			return Access{}, &Rejected{Reason: c.RejectionReason}
		case !ended && !soon(have, c.Refresh.ExpiresAt, now):
			return access, nil
		case have.Refresh.Reveal() == "" && !ended:
			return access, nil // to the last: the owner has been asked to sign in again
		case have.Refresh.Reveal() == "":
			return Access{}, k.reject(ctx, c, ReasonExpired, now)
		case c.Refresh.NextAt != nil && now.Before(*c.Refresh.NextAt):
			if !ended {
				return access, nil
			}
			return Access{}, &Trouble{Until: *c.Refresh.NextAt}
		}
		err = k.refresh(ctx, s, key, c)
		var busy *store.RefreshingError
		var trouble *Trouble
		switch {
		case err == nil, errors.Is(err, store.ErrStale): // it is there, by whoever
		case errors.As(err, &busy):
			if err := wait(ctx, min(again, max(busy.Until.Sub(now), time.Millisecond))); err != nil {
				return Access{}, err
			}
		case errors.As(err, &trouble) && !ended:
			return access, nil
		default:
			return Access{}, err
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
func (k *Keeper) refresh(ctx context.Context, s Source, key credential.Key, c store.Credential) error {
	app, err := k.App(ctx, s)
	if err != nil {
		return err
	}
	// What is begun is ended, whatever becomes of the run that asked for it. Its time runs from
	// before the claim: who was held up in between finds it over, and sends nothing.
	ctx = context.WithoutCancel(ctx)
	limit := k.alone()
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
		fresh := tokensOf(answer, s.Manifest.OAuth(), have)
		c.Sealed, c.Fingerprint, c.Refresh = fresh.SealFor(key, c.ConnectionID), fresh.Fingerprint(key), standing(fresh, now)
		return k.commit(ctx, c)
	}
	var said *answerError
	if errors.As(err, &said) && said.Code == "invalid_grant" {
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
	if err := k.Store.FailRefresh(ctx, c.ConnectionID, c.Generation, store.RefreshFailure{At: now, Next: next, Unanswered: said == nil || said.Status >= http.StatusInternalServerError}); err != nil {
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
	err := k.Store.KeepRefreshed(ctx, c)
	for n := 1; n < storeAttempts && err != nil && !store.IsAnswer(err); n++ {
		if err := wait(ctx, storePause); err != nil {
			return err
		}
		err = k.Store.KeepRefreshed(ctx, c)
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

// reject notes that only the owner can help. A mark stays as it is: nobody begins with a rejected
// credential, and the next sign-in clears it.
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

// standing is what is known of fresh tokens.
func standing(t credential.Tokens, now time.Time) store.Refresh {
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

func (k *Keeper) alone() time.Duration {
	if k.Alone > 0 {
		return k.Alone
	}
	return alone
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
