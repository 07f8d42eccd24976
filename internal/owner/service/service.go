// Package service is what an owner can see and do, carried out over the store of this
// machine. It is the one implementation behind the console, the JSON routes and the
// commands, which all speak to api.Owner.
//
// It derives no verdict: connections are judged by package view and passed on as they
// are. It starts no run either: it leaves requests that workers take up.
//
// Connections, their schedules, credentials, limits and runs are looked after here. What
// was collected is read in package reading, what is arranged with others is in settings,
// and a run is put into words by runview.
package service

import (
	"context"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/ops/disk"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/devices"
	"github.com/pdpp-go/pdpp/internal/owner/service/imports"
	"github.com/pdpp-go/pdpp/internal/owner/service/lookup"
	"github.com/pdpp-go/pdpp/internal/owner/service/people"
	"github.com/pdpp-go/pdpp/internal/owner/service/reading"
	"github.com/pdpp-go/pdpp/internal/owner/service/runview"
	"github.com/pdpp-go/pdpp/internal/owner/service/semantic"
	"github.com/pdpp-go/pdpp/internal/owner/service/settings"
	"github.com/pdpp-go/pdpp/internal/owner/service/webhooks"
	"github.com/pdpp-go/pdpp/internal/schedule/notify"
	"github.com/pdpp-go/pdpp/internal/share/embedding"
	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/view"
)

// Config holds the dependencies and settings of the service.
type Config struct {
	Store      store.Store
	Connectors catalog.Catalog
	// Key seals credentials and the secrets of push targets. It returns an error if no key exists and none can be
	// created.
	Key func() (credential.Key, error)
	// Opening returns the key for existing sealed values and never creates one. Nil means Key.
	Opening func() (credential.Key, error)
	// GrantService keeps the grants; nil means one over the store.
	GrantService *grants.Service
	// Access creates and revokes the means of acting as the owner.
	Access settings.AccessControl
	// EvidencePageReader overrides the evidence that connections are judged by; nil means the store's.
	Reader view.EvidenceReader
	// VAPID signs web pushes and Base is where the console is; HTTP reaches push
	// targets, and nil means a plain client.
	VAPID func(context.Context) (notify.VAPID, error)
	// PushKey is the public one of them, with which browsers subscribe; empty where none can.
	PushKey string
	Base    string
	// Address is where devices reach the server when there is no Base, and no server has
	// listened yet.
	Address string
	HTTP    *http.Client
	// Lookup returns the operator's value for a variable of the deployment configuration; nil means that none is set.
	Lookup func(name string) (string, bool)

	// MayConfirm returns why this caller may not confirm a connector that is not built in; nil accepts all callers,
	// as on the server's own machine.
	MayConfirm func(ctx context.Context, connector string) error
	// MayAddSources returns why this caller may not add a source from a file; nil accepts all callers.
	MayAddSources func(ctx context.Context) error

	// Asked is called after a run was requested, so that a worker in this process starts it without waiting for its
	// next poll. Nil disables the call.
	Asked func()
	// Beat reports the worker in this process as alive. Its last heartbeat is too old after the machine slept. Nil means
	// that there is no such worker.
	Beat func(context.Context) error

	// Files is where the files of records are; nil means that there are none.
	Files blob.Storage

	// ForgetPicture removes the small picture of a file; nil means that there are none.
	ForgetPicture func(sha256 string) error
	// DeletionTime is how long a call works on a deletion; the rest is done by the caller of WorkOnDeletions.
	// Zero means to its end.
	DeletionTime time.Duration

	Version, Home, Database string // reported by Runtime
	// FreeSpace returns how many bytes can still be written below a folder; nil asks the file system.
	FreeSpace func(folder string) (uint64, error)
	// Now is the clock; nil means the real one.
	Now func() time.Time
}

// Service carries out what an owner asks for. It is safe for concurrent use.
type Service struct {
	Config
	*reading.Collection
	*settings.Settings
	*imports.FileImports
	*devices.Registry
	*webhooks.Keeper
	*people.Directory
	*semantic.Chooser

	find       *lookup.Lookup
	progresses *runview.ProgressTracker
	view       view.View
	started    time.Time
}

var _ api.Owner = (*Service)(nil)

// New makes the service.
func New(c Config) *Service {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Reader == nil {
		c.Reader = c.Store
	}
	if c.Opening == nil {
		c.Opening = c.Key
	}
	if c.VAPID == nil {
		c.VAPID = func(context.Context) (notify.VAPID, error) { return notify.VAPID{}, nil }
	}
	if c.GrantService == nil {
		c.GrantService = grants.NewService(c.Store, c.Base, c.Now)
	}
	if c.MayConfirm == nil {
		c.MayConfirm = func(context.Context, string) error { return nil }
	}
	if c.MayAddSources == nil {
		c.MayAddSources = func(context.Context) error { return nil }
	}
	if c.Asked == nil {
		c.Asked = func() {}
	}
	if c.FreeSpace == nil {
		c.FreeSpace = func(folder string) (uint64, error) { free, _, err := disk.Space(folder); return free, err }
	}
	c.Connectors = launch.AsChosen(c.Connectors, c.Store)
	find := lookup.New(c.Store, catalog.Remember(c.Connectors))
	s := &Service{
		Config:     c,
		Collection: reading.New(c.Store, find, c.Files, c.Now),
		Chooser:    semantic.New(semantic.Config{Store: c.Store, Key: c.Key, Opening: c.Opening, Now: c.Now}),
		Settings: settings.New(settings.Config{
			Store: c.Store, Key: c.Key, Opening: c.Opening, GrantService: c.GrantService, Access: c.Access, VAPID: c.VAPID,
			Base: c.Base, HTTP: c.HTTP, Now: c.Now,
		}),
		find: find, progresses: runview.NewProgresses(c.Store, c.Now),
		view:    view.View{Reader: fileWatch{diskWatch{c.Reader, &c}, &c, find.Connectors}, Now: c.Now},
		started: c.Now(),
	}
	s.FileImports = imports.New(imports.Config{Store: c.Store, Lookup: find, OpenKey: c.Opening, Variable: c.Lookup,
		RequestRun: s.requestManualRun, Now: c.Now})
	s.Keeper = webhooks.New(webhooks.Config{Store: c.Store, Key: c.Key, Opening: c.Opening,
		GrantService: c.GrantService, Connection: find.ActiveConnection, Base: c.Base, Now: c.Now})
	s.Meaning = &embedding.Searcher{Store: c.Store, Key: c.Opening}
	s.Directory = people.New(c.Store, s.Collection, c.Now)
	s.Registry = devices.New(devices.Config{Store: c.Store, Lookup: find, Evidence: c.Reader, BaseURL: c.Base,
		Address: c.Address, Now: c.Now})
	return s
}
