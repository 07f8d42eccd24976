// Package owner is what an owner can see and do, carried out over the store of this
// machine. It is the one implementation behind the console, the JSON routes and the
// commands, which all speak to ownerapi.Owner.
//
// It derives no verdict: connections are judged by ownerview and passed on as they
// are. It starts no run either: it leaves requests that workers take up.
package owner

import (
	"net/http"
	"time"

	"pdpp/internal/catalog"
	"pdpp/internal/credential"
	"pdpp/internal/grants"
	"pdpp/internal/notify"
	"pdpp/internal/ownerapi"
	"pdpp/internal/ownerview"
	"pdpp/internal/store"
)

// Config is everything that the service is told.
type Config struct {
	Store      store.Store
	Connectors catalog.Catalog
	// Key seals credentials and the secrets of push targets. It gives an error where
	// none is there and none can be made.
	Key func() (credential.Key, error)
	// Book keeps the grants; nil means one over the store.
	Book *grants.Book
	// OwnerTokens makes tokens for programs that act as the owner.
	OwnerTokens OwnerTokens
	// Reader overrides the evidence that connections are judged by; nil means the store's.
	Reader ownerview.EvidenceReader
	// VAPID signs web pushes and Base is where the console is; HTTP reaches push
	// targets, and nil means a plain client.
	VAPID notify.VAPID
	Base  string
	HTTP  *http.Client

	Version, Home, Database string // as Runtime tells them
	// Now is the clock; nil means the real one.
	Now func() time.Time
}

// Service carries out what an owner asks for. It is safe for concurrent use.
type Service struct {
	Config
	finder  catalog.Finder
	view    ownerview.View
	started time.Time

	courses   courses
	manifests manifests
	seals     seals
}

var _ ownerapi.Owner = (*Service)(nil)

// New makes the service.
func New(c Config) *Service {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Reader == nil {
		c.Reader = c.Store
	}
	if c.Book == nil {
		c.Book = grants.NewBook(c.Store, c.Base, c.Now)
	}
	return &Service{
		Config: c, finder: catalog.Remember(c.Connectors), view: ownerview.View{Reader: c.Reader, Now: c.Now}, started: c.Now(),
	}
}
