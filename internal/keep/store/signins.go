package store

import (
	"context"
	"time"
)

// Refreshing keeps the tokens of an OAuth credential fresh. One caller at a time refreshes a
// credential, whichever process it is in: providers revoke everything when a refresh token that
// is good for one use is shown twice.
type Refreshing interface {
	// BeginRefresh marks, before the provider is asked, that the credential of this generation
	// is being refreshed, and gives it as it is then. Until the given moment nobody else may.
	// ErrStale when it has another generation or was rejected, *RefreshingError while somebody else has begun,
	// ErrNotFound when there is none or the owner revoked it. A mark that was left behind by
	// somebody who did not come to an end shows as Unanswered.
	BeginRefresh(ctx context.Context, connectionID string, generation int64, until, now time.Time) (Credential, error)
	// KeepRefreshed replaces the secret of the credential's generation and gives it the next
	// generation; failures and marks are over. ErrStale when it has another generation.
	KeepRefreshed(ctx context.Context, c Credential) error
	// FailRefresh takes the mark back and notes that it did not work: how often and since when,
	// not before when it is tried again, and whether an answer may have been lost.
	FailRefresh(ctx context.Context, connectionID string, generation int64, f RefreshFailure) error
}

// RefreshFailure is what is noted of a refresh that did not work.
type RefreshFailure struct {
	At, Next time.Time
	// Unanswered means that the provider may have exchanged the token all the same.
	Unanswered bool
}

// RefreshingError tells until when somebody else refreshes the credential.
type RefreshingError struct{ Until time.Time }

func (*RefreshingError) Error() string { return ErrRefreshing.Error() }

// Is makes it match ErrRefreshing.
func (*RefreshingError) Is(target error) bool { return target == ErrRefreshing }

// Refresh is how the refreshing of a credential stands.
type Refresh struct {
	// Renewable means that it can be refreshed; else it ends at ExpiresAt.
	Renewable bool
	// ExpiresAt is when the access token ends; nil when that is not known.
	ExpiresAt *time.Time
	// Unanswered means that a refresh began whose answer nobody kept.
	Unanswered   bool
	Failures     int
	FailingSince *time.Time
	// NextAt is before when it is not tried again.
	NextAt *time.Time
}

// SignIns are sign-ins at providers that have begun and wait for their answer. Each is used once.
type SignIns interface {
	// PutSignIn keeps one. Those of the same connection and binder that began before are given up,
	// and those that are over are forgotten.
	PutSignIn(ctx context.Context, s SignIn, now time.Time) error
	// TakeSignIn gives one and forgets it. ErrNotFound when there is none of this mark for the
	// binder, or it is over.
	TakeSignIn(ctx context.Context, mark, binder string, now time.Time) (SignIn, error)
	// PollSignIn gives one that waits, and notes that it is next asked for at the given moment.
	// ErrNotFound as for TakeSignIn; ErrWaiting before the moment that was noted last.
	PollSignIn(ctx context.Context, mark, binder string, next, now time.Time) (SignIn, error)
}

// SignIn is one sign-in that has begun.
type SignIn struct {
	Mark         string // digest of what the answer must show
	Binder       string // who began it: a session, a token; nobody else finishes it
	ConnectionID string
	Sealed       []byte // what is needed to finish it
	ExpiresAt    time.Time
}
