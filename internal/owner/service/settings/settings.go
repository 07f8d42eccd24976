// Package settings manages an owner's notification targets and quiet hours, the programs that act as the owner, and
// the grants of apps.
package settings

import (
	"context"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/schedule/notify"
	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/web/auth"
)

// Store keeps the push targets, the quiet hours and the audit trail, and knows what a
// grant can read.
type Store interface {
	notify.Store
	store.PushTargets
	store.Audit
	ListConnections(ctx context.Context) ([]store.Connection, error)
	Connection(ctx context.Context, id string) (store.Connection, error)
	ListRecords(ctx context.Context, q store.RecordQuery) ([]store.StoredRecord, error)
	RequestRun(ctx context.Context, r store.RunRequest) (added bool, err error)
}

// Config is everything that the arrangements need; of it only HTTP may be left out.
type Config struct {
	Store Store
	// Key seals the secrets of push targets.
	Key func() (credential.Key, error)
	// Opening returns the key for existing sealed values and never creates one.
	Opening func() (credential.Key, error)
	// GrantService keeps the grants.
	GrantService *grants.Service
	Access       AccessControl
	// VAPID signs web pushes and Base is where the console is; HTTP reaches push
	// targets, and nil means a plain client.
	VAPID func(context.Context) (notify.VAPID, error)
	Base  string
	HTTP  *http.Client
	Now   func() time.Time
}

// AccessControl creates and revokes the means of acting as the owner. *auth.Auth implements it.
type AccessControl interface {
	Tokens(ctx context.Context) ([]store.OwnerToken, error)
	CreateToken(ctx context.Context, n auth.NewToken) (store.OwnerToken, string, error)
	RevokeToken(ctx context.Context, id string) error
	SignedIn(ctx context.Context) ([]auth.SignedIn, error)
	EndSession(ctx context.Context, id string) error
	EndSessions(ctx context.Context) error
	Passkeys(ctx context.Context) ([]store.Passkey, error)
	RemovePasskey(ctx context.Context, id string) error
	RecoveryCodes(ctx context.Context) (store.RecoveryCodes, error)
	MakeRecoveryCodes(ctx context.Context) ([]string, error)
	SetPassword(ctx context.Context, password string, keepTokens bool) error
}

// Settings are read and changed here. They are safe for concurrent use.
type Settings struct{ Config }

// New makes the arrangements.
func New(c Config) *Settings { return &Settings{c} }
