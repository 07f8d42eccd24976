package store

import (
	"context"
	"time"
)

// CredentialRefresh coordinates the refresh of OAuth tokens. One caller in any process refreshes a credential at a
// time: providers revoke all tokens when a single-use refresh token is presented twice.
type CredentialRefresh interface {
	// BeginRefresh marks the credential of this generation as being refreshed, before the provider is asked, and
	// returns it. No one else may refresh it before until. It returns ErrStale when the generation differs or the
	// credential was rejected, *RefreshActiveError while another caller refreshes it, and ErrNotFound when it does
	// not exist or was revoked. An expired mark of an interrupted refresh shows as Unanswered.
	BeginRefresh(ctx context.Context, connectionID string, generation int64, until, now time.Time) (Credential, error)
	// SaveRefreshed stores the new secret under the next generation and clears failures and marks. It returns
	// ErrStale when the generation differs.
	SaveRefreshed(ctx context.Context, c Credential) error
	// FailRefresh removes the mark and records the failure: the count, since when, when to retry, and whether an
	// answer may have been lost.
	FailRefresh(ctx context.Context, connectionID string, generation int64, f RefreshFailure) error
}

// RefreshFailure describes a failed refresh.
type RefreshFailure struct {
	At, Next time.Time
	// Unanswered means that the provider may have exchanged the token although no answer arrived.
	Unanswered bool
}

// RefreshActiveError reports until when another caller refreshes the credential.
type RefreshActiveError struct{ Until time.Time }

func (*RefreshActiveError) Error() string { return ErrRefreshActive.Error() }

// Is reports whether target is ErrRefreshActive.
func (*RefreshActiveError) Is(target error) bool { return target == ErrRefreshActive }

// Refresh is the refresh state of a credential.
type Refresh struct {
	// Renewable means that the credential can be refreshed. Otherwise it ends at ExpiresAt.
	Renewable bool
	// ExpiresAt is when the access token ends; nil when unknown.
	ExpiresAt *time.Time
	// Unanswered means that a refresh started and its answer was lost.
	Unanswered   bool
	Failures     int
	FailingSince *time.Time
	// NextAt is the earliest time of the next attempt.
	NextAt *time.Time
}

// SignIns stores sign-ins at providers that wait for their answer. Each is used once.
type SignIns interface {
	// PutSignIn stores a sign-in. It deletes earlier ones of the same connection and binder, and expired ones.
	PutSignIn(ctx context.Context, s SignIn, now time.Time) error
	// TakeSignIn returns a sign-in and deletes it. It returns ErrNotFound when the binder has none with this mark, or
	// it expired.
	TakeSignIn(ctx context.Context, mark, binder string, now time.Time) (SignIn, error)
	// PollSignIn returns a pending sign-in and stores the time of the next poll. It returns ErrNotFound like
	// TakeSignIn, and ErrWaiting before the stored time.
	PollSignIn(ctx context.Context, mark, binder string, next, now time.Time) (SignIn, error)
}

// SignIn is one started sign-in.
type SignIn struct {
	Mark         string // digest of the secret that the answer must contain
	Binder       string // the session or token that started it; no other can finish it
	ConnectionID string
	Sealed       []byte // the data that finishes it
	ExpiresAt    time.Time
}
