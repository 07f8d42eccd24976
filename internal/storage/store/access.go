package store

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Secrets of this file are stored only as SHA-256, so that a copy of the database signs no one in.

// Session is a signed-in browser.
type Session struct {
	Hash      []byte // SHA-256 of the cookie's value
	Data      []byte
	ExpiresAt time.Time
}

// OwnerToken allows a program to act as the owner.
type OwnerToken struct {
	ID         string
	Hash       []byte
	Prefix     string // the first characters, by which the owner recognises the token
	Label      string
	Scopes     []string // defined in internal/web/auth
	CreatedAt  time.Time
	ExpiresAt  *time.Time
	LastUsedAt *time.Time
	RevokedAt  *time.Time
}

// Passkey is a WebAuthn key of the owner. Credential is its verification data, written and read by internal/web/auth.
type Passkey struct {
	ID         string
	Host       string // the host name that the key signs in to
	Label      string
	Credential []byte
	CreatedAt  time.Time
	LastUsedAt *time.Time
}

// RecoveryCodes counts the codes of the newest set.
type RecoveryCodes struct {
	Made, Left int
	CreatedAt  *time.Time // nil when there are none
}

// OwnerAccess stores how the owner and the owner's programs sign in.
type OwnerAccess interface {
	PutSession(ctx context.Context, s Session) error
	// Session returns ErrNotFound for an unknown or expired session.
	Session(ctx context.Context, hash []byte, now time.Time) (Session, error)
	// Sessions lists the sessions that have not expired.
	Sessions(ctx context.Context, now time.Time) ([]Session, error)
	DropSession(ctx context.Context, hash []byte) error
	// DropSessions deletes every session except the one with the hash keep; nil deletes all.
	DropSessions(ctx context.Context, keep []byte) error

	CreateOwnerToken(ctx context.Context, t OwnerToken) error
	// OwnerTokens lists all tokens, newest first, including revoked ones.
	OwnerTokens(ctx context.Context) ([]OwnerToken, error)
	// OwnerToken finds a token by its hash, whether or not it is still valid.
	OwnerToken(ctx context.Context, hash []byte) (OwnerToken, error)
	// UseOwnerToken records the time of use, at most once a minute.
	UseOwnerToken(ctx context.Context, id string, now time.Time) error
	// RevokeOwnerToken revokes a token. It returns ErrNotFound for an unknown id.
	RevokeOwnerToken(ctx context.Context, id string, now time.Time) error
	// RevokeOwnerTokens revokes all tokens except the one with the id keep; "" revokes all.
	RevokeOwnerTokens(ctx context.Context, keep string, now time.Time) error

	// PutBrowser records that a browser has signed in. Only the newest browsers are stored.
	PutBrowser(ctx context.Context, hash []byte, now time.Time) error
	// BrowserKnown reports whether the browser has signed in since the given time.
	BrowserKnown(ctx context.Context, hash []byte, since time.Time) (bool, error)

	CreatePasskey(ctx context.Context, k Passkey) error
	// Passkeys lists all passkeys, newest first.
	Passkeys(ctx context.Context) ([]Passkey, error)
	// UsePasskey stores what a sign-in changed in the credential. It returns ErrNotFound for an unknown id.
	UsePasskey(ctx context.Context, id string, credential []byte, now time.Time) error
	// DropPasskey deletes a passkey. It returns ErrNotFound for an unknown id.
	DropPasskey(ctx context.Context, id string) error

	// PutRecoveryCodes replaces all codes.
	PutRecoveryCodes(ctx context.Context, hashes [][]byte, now time.Time) error
	RecoveryCodes(ctx context.Context) (RecoveryCodes, error)
	// UseRecoveryCode marks a code as used. It returns ErrNotFound when no unused code has the hash.
	UseRecoveryCode(ctx context.Context, hash []byte, now time.Time) error
}

// GrantMode is how often a grant may be read.
type GrantMode string

const (
	GrantSingleUse  GrantMode = "single_use" // each stream once
	GrantContinuous GrantMode = "continuous"
)

// Grant allows a client to read. Scope is JSON, written and read by internal/share/grants.
type Grant struct {
	ID         string
	ClientID   string
	ClientName string
	Purpose    string
	Mode       GrantMode
	Scope      jsontext.Value
	CreatedAt  time.Time
	ExpiresAt  *time.Time
	RevokedAt  *time.Time // equals ExpiresAt once EndGrants has recorded that the grant expired
	LastUsedAt *time.Time
	Uses       int64
	Records    int64 // records read so far; repeated reads count again
}

// GrantPage is one page of a single pass through a stream. After and Next are hashes of cursors: After belongs to the
// request and is nil for the first page; Next continues it and is nil for the last page.
type GrantPage struct{ After, Next []byte }

// OAuthClient is an app that may request grants.
type OAuthClient struct {
	ID           string
	Name         string
	RedirectURIs []string
	CreatedAt    time.Time
	ApprovedAt   *time.Time // when the owner last approved a request; nil if never
	EndsAt       time.Time  // when an unused app is deleted
}

// GrantUse counts the reads of one stream through a grant.
type GrantUse struct {
	Stream     string
	Reads      int64
	Records    int64
	LastUsedAt time.Time
}

// GrantRequest is a request of an app for a grant. It has no grant and no code until the owner decides; a code is
// redeemed once.
type GrantRequest struct {
	ID            string
	ClientID      string
	ClientName    string
	RedirectURI   string
	State         string
	CodeChallenge string // S256
	Purpose       string
	Mode          GrantMode
	Scope         jsontext.Value
	GrantExpires  *time.Time
	CreatedAt     time.Time
	ExpiresAt     time.Time
	DecidedAt     *time.Time
	GrantID       string // empty unless approved
}

// Grants stores grants, the apps that hold them, and pending requests.
type Grants interface {
	// CreateGrant stores a grant and the hash of its token. A nil hash means that the token is added later.
	CreateGrant(ctx context.Context, g Grant, tokenHash []byte) error
	Grant(ctx context.Context, id string) (Grant, error)
	// Grants lists all grants, newest first.
	Grants(ctx context.Context) ([]Grant, error)
	// GrantByToken finds a grant by the hash of one of its tokens, whether or not it is still valid.
	GrantByToken(ctx context.Context, hash []byte) (Grant, error)
	// RevokeGrant revokes a grant at once. A second call changes nothing. It returns ErrNotFound for an unknown id.
	RevokeGrant(ctx context.Context, id string, now time.Time) error
	// EndGrants records which grants have expired, and deletes the requests for runs of grants that have ended. A
	// recorded end stays, also when the clock is set back.
	EndGrants(ctx context.Context, now time.Time) error

	// UseGrant counts a read of a stream and appends the audit entry, unless it is nil, in the same transaction. With
	// a page it returns ErrExists and counts nothing when the stream was already started, or when the cursor is not
	// the expected next one.
	UseGrant(ctx context.Context, id, stream string, records int64, turn *GrantPage, now time.Time,
		trace *AuditEntry) error
	// GrantUses lists the uses by stream.
	GrantUses(ctx context.Context, id string) ([]GrantUse, error)

	// PutOAuthClient stores a new app and deletes those that have ended.
	PutOAuthClient(ctx context.Context, c OAuthClient) error
	// OAuthClient returns ErrNotFound for an unknown or ended app.
	OAuthClient(ctx context.Context, id string, now time.Time) (OAuthClient, error)
	// ExtendOAuthClient moves the end of an app to a later time, never to an earlier one. Approved means that the
	// owner approves a request now.
	ExtendOAuthClient(ctx context.Context, id string, endsAt time.Time, approved bool, now time.Time) error

	// PutGrantRequest stores a new request and deletes expired requests without a grant.
	PutGrantRequest(ctx context.Context, r GrantRequest) error
	// GrantRequest returns ErrNotFound for an unknown or expired request.
	GrantRequest(ctx context.Context, id string, now time.Time) (GrantRequest, error)
	// DecideGrantRequest decides a request once. It returns ErrExists when it was decided before, and ErrNotFound
	// when it is unknown or expired. A nil grant denies it; otherwise codeHash can be redeemed until codeExpires.
	DecideGrantRequest(ctx context.Context, id string, g *Grant, codeHash []byte, codeExpires, now time.Time) error
	// RedeemCode exchanges a code for a token once: one transaction marks the code as used and adds tokenHash to the
	// grant. It returns ErrNotFound for an unknown or expired code. A second use means that a copy of the code
	// exists: it revokes the grant and returns ErrExists.
	//
	// Check runs before anything is written, also for a used code, so that a caller that check rejects cannot revoke
	// the grant. Check must not use the store, which waits for it.
	RedeemCode(ctx context.Context, codeHash, tokenHash []byte, check func(GrantRequest) error, now time.Time) (Grant,
		error)
}
