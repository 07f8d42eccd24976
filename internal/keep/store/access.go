package store

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Secrets of this file are kept as their SHA-256: what lets somebody in is never at rest.

// Session is a signed-in browser.
type Session struct {
	Hash      []byte // of the cookie's value
	Data      []byte
	ExpiresAt time.Time
}

// OwnerToken lets a program act as the owner.
type OwnerToken struct {
	ID         string
	Hash       []byte
	Prefix     string // the first characters, for the owner to recognise it by
	Label      string
	Scopes     []string // what it may do; internal/web/auth knows the names
	CreatedAt  time.Time
	ExpiresAt  *time.Time
	LastUsedAt *time.Time
	RevokedAt  *time.Time
}

// Passkey is a key of the owner's that signs them in. Credential is what checks it,
// made and read by internal/web/auth.
type Passkey struct {
	ID         string
	Host       string // that it signs in to
	Label      string
	Credential []byte
	CreatedAt  time.Time
	LastUsedAt *time.Time
}

// RecoveryCodes counts the codes that were made last.
type RecoveryCodes struct {
	Made, Left int
	CreatedAt  *time.Time // nil when none were made
}

// Entries are the ways in for the owner.
type Entries interface {
	PutSession(ctx context.Context, s Session) error
	// Session gives ErrNotFound for one that is not there or has expired by now.
	Session(ctx context.Context, hash []byte, now time.Time) (Session, error)
	// Sessions lists those that have not expired by now.
	Sessions(ctx context.Context, now time.Time) ([]Session, error)
	DropSession(ctx context.Context, hash []byte) error
	// DropSessions ends every session but the one named (nil keeps none), and
	// forgets those that have expired.
	DropSessions(ctx context.Context, keep []byte) error

	CreateOwnerToken(ctx context.Context, t OwnerToken) error
	// OwnerTokens lists all, revoked ones too, the newest first.
	OwnerTokens(ctx context.Context) ([]OwnerToken, error)
	// OwnerToken finds one by its hash, whatever its standing.
	OwnerToken(ctx context.Context, hash []byte) (OwnerToken, error)
	// UseOwnerToken notes the use, at most once a minute.
	UseOwnerToken(ctx context.Context, id string, now time.Time) error
	// RevokeOwnerToken ends it; ErrNotFound when there is none.
	RevokeOwnerToken(ctx context.Context, id string, now time.Time) error
	// RevokeOwnerTokens ends all but the one named; an empty name keeps none.
	RevokeOwnerTokens(ctx context.Context, keep string, now time.Time) error

	// PutBrowser remembers that a browser has signed in. Of many the newest are kept.
	PutBrowser(ctx context.Context, hash []byte, now time.Time) error
	// BrowserKnown says whether a browser has signed in since then.
	BrowserKnown(ctx context.Context, hash []byte, since time.Time) (bool, error)

	CreatePasskey(ctx context.Context, k Passkey) error
	// Passkeys lists all, the newest first.
	Passkeys(ctx context.Context) ([]Passkey, error)
	// UsePasskey keeps what a use changed; ErrNotFound when there is none.
	UsePasskey(ctx context.Context, id string, credential []byte, now time.Time) error
	// DropPasskey removes it; ErrNotFound when there is none.
	DropPasskey(ctx context.Context, id string) error

	// PutRecoveryCodes replaces all codes by those with the hashes.
	PutRecoveryCodes(ctx context.Context, hashes [][]byte, now time.Time) error
	RecoveryCodes(ctx context.Context) (RecoveryCodes, error)
	// UseRecoveryCode spends a code, once; ErrNotFound when there is none that is unused.
	UseRecoveryCode(ctx context.Context, hash []byte, now time.Time) error
}

// GrantMode says how often a grant may be read through.
type GrantMode string

const (
	GrantSingleUse  GrantMode = "single_use" // each stream once
	GrantContinuous GrantMode = "continuous"
)

// Grant lets a client read. Scope is JSON, made and read by internal/share/grants.
type Grant struct {
	ID         string
	ClientID   string
	ClientName string
	Purpose    string
	Mode       GrantMode
	Scope      jsontext.Value
	CreatedAt  time.Time
	ExpiresAt  *time.Time
	RevokedAt  *time.Time
	LastUsedAt *time.Time
	Uses       int64
	Records    int64 // that were read by it, each as often as it was
}

// GrantTurn is one page of a reading that goes through a stream once. Both name cursors
// by a hash: After the one that the page was asked for with, nil for the first page, and
// Next the one that goes on, nil on the last.
type GrantTurn struct{ After, Next []byte }

// OAuthClient is an app that may ask for grants.
type OAuthClient struct {
	ID           string
	Name         string
	RedirectURIs []string
	CreatedAt    time.Time
	ApprovedAt   *time.Time // when it was last granted something; nil when it never was
	EndsAt       time.Time  // when it is forgotten, unless it is used before
}

// GrantUse counts what a grant read of one stream.
type GrantUse struct {
	Stream     string
	Reads      int64
	Records    int64
	LastUsedAt time.Time
}

// GrantRequest is what an app asks for. Until it is decided it has neither grant nor
// code; a code is redeemed once.
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

// Grants are what clients may read, and who asked for what.
type Grants interface {
	// CreateGrant keeps a grant and the hash of its token; a nil hash means that the
	// token comes later.
	CreateGrant(ctx context.Context, g Grant, tokenHash []byte) error
	Grant(ctx context.Context, id string) (Grant, error)
	// Grants lists all, the newest first.
	Grants(ctx context.Context) ([]Grant, error)
	// GrantByToken finds a grant by the hash of one of its tokens, whatever its standing.
	GrantByToken(ctx context.Context, hash []byte) (Grant, error)
	// RevokeGrant ends it at once; a second time changes nothing. ErrNotFound when there is none.
	RevokeGrant(ctx context.Context, id string, now time.Time) error

	// UseGrant counts a read of a stream, together with the entry of the audit trail that
	// tells of it; nil is none. With a turn it is refused with ErrExists when
	// the stream was begun before, or when the cursor is not the one that goes on, and
	// then counts nothing.
	UseGrant(ctx context.Context, id, stream string, records int64, turn *GrantTurn, now time.Time, trace *AuditEntry) error
	// GrantUses orders by stream.
	GrantUses(ctx context.Context, id string) ([]GrantUse, error)

	// PutOAuthClient keeps a new one, and forgets those that had ended when it was made.
	PutOAuthClient(ctx context.Context, c OAuthClient) error
	// OAuthClient gives ErrNotFound for one that is not there or has ended by now.
	OAuthClient(ctx context.Context, id string, now time.Time) (OAuthClient, error)
	// ExtendOAuthClient puts the end of an app off, never forward; approved says that it
	// was granted something now.
	ExtendOAuthClient(ctx context.Context, id string, endsAt time.Time, approved bool, now time.Time) error

	// PutGrantRequest keeps a new one, and forgets those that had expired without a
	// grant when it was made.
	PutGrantRequest(ctx context.Context, r GrantRequest) error
	// GrantRequest gives ErrNotFound for one that is not there or has expired by now.
	GrantRequest(ctx context.Context, id string, now time.Time) (GrantRequest, error)
	// DecideGrantRequest settles it once: ErrExists when it was decided before,
	// ErrNotFound when it is not there or has expired by now. With a grant it was
	// approved, and codeHash redeems it until codeExpires.
	DecideGrantRequest(ctx context.Context, id string, g *Grant, codeHash []byte, codeExpires, now time.Time) error
	// RedeemCode exchanges a code for a token, once: in one transaction the code is
	// spent and tokenHash becomes a token of the grant. ErrNotFound when the code is
	// unknown or expired. When it was spent before the grant is revoked, since somebody has
	// a copy, and the error is ErrExists. Check is asked before anything is written, also
	// of a spent code: whoever it refuses cannot end the grant either. It must not use the
	// store, which waits for it.
	RedeemCode(ctx context.Context, codeHash, tokenHash []byte, check func(GrantRequest) error, now time.Time) (Grant, error)
}
