// Package owner is what an owner can see and do, carried out over the store of this
// machine. It is the one implementation behind the console, the JSON routes and the
// commands, which all speak to ownerapi.Owner.
//
// It derives no verdict: connections are judged by ownerview and passed on as they
// are. It starts no run either: it leaves requests that workers take up.
//
// Connections, their schedules, credentials, limits and runs are looked after here. What
// was collected is read in package reading, what is arranged with others is in keeping,
// and a run is put into words by runview.
package owner

import (
	"net/http"
	"time"

	"pdpp/internal/catalog"
	"pdpp/internal/credential"
	"pdpp/internal/grants"
	"pdpp/internal/notify"
	"pdpp/internal/owner/keeping"
	"pdpp/internal/owner/lookup"
	"pdpp/internal/owner/reading"
	"pdpp/internal/owner/runview"
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
	// Access makes and ends what lets somebody act as the owner.
	Access keeping.Access
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
	*reading.Collection
	*keeping.Arrangements

	find    *lookup.Lookup
	courses *runview.Courses
	view    ownerview.View
	started time.Time
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
	find := lookup.New(c.Store, catalog.Remember(c.Connectors))
	return &Service{
		Config:     c,
		Collection: reading.New(c.Store, find, c.Now),
		Arrangements: keeping.New(keeping.Config{
			Store: c.Store, Key: c.Key, Book: c.Book, Access: c.Access, VAPID: c.VAPID, Base: c.Base, HTTP: c.HTTP, Now: c.Now,
		}),
		find: find, courses: runview.NewCourses(c.Store, c.Now), view: ownerview.View{Reader: c.Reader, Now: c.Now}, started: c.Now(),
	}
}
