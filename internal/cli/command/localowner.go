package command

import (
	"cmp"
	"context"
	"log/slog"
	"path/filepath"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service"
	"github.com/pdpp-go/pdpp/internal/owner/service/audited"
	"github.com/pdpp-go/pdpp/internal/owner/thumbnail"
	"github.com/pdpp-go/pdpp/internal/schedule/notify"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/web/auth"
)

// LocalOwner returns the owner's operations on the database of this machine.
func (inv *Invocation) LocalOwner(st store.Store) (api.Owner, error) {
	connectors, err := inv.Connectors()
	if err != nil {
		return nil, err
	}
	url, err := inv.PostgresURL()
	if err != nil {
		return nil, err
	}
	home, err := inv.HomeFolder()
	if err != nil && url == "" {
		return nil, err
	}
	database := "sqlite"
	if url != "" {
		database = "postgres"
	}
	base, _, err := inv.Variable(EnvBaseURL)
	if err != nil {
		return nil, err
	}
	listen, _, err := inv.Variable(EnvListen)
	if err != nil {
		return nil, err
	}
	files, err := inv.Blobs()
	if err != nil && home != "" {
		return nil, err
	}
	trail := inv.LocalTrail(st)
	return audited.NewAuditedOwner(service.New(service.Config{
		Store: st, Connectors: connectors, Key: inv.CredentialKey, Opening: inv.ExistingKey,
		Access: auth.New(auth.Config{Store: st, Now: inv.Env.Now, HashCost: inv.Env.HashCost, Audit: trail}),
		VAPID:  func(ctx context.Context) (notify.VAPID, error) { return inv.VAPIDKeys(ctx, st) },
		Base:   base, Address: "http://" + cmp.Or(listen, DefaultListenAddress), Version: ReadBuildInfo().Version, Home: home,
		Database: database, Files: files.Place, Now: inv.Env.Now, Lookup: inv.ChildVariable,
		ForgetPicture: func(sha256 string) error { return thumbnail.Remove(filepath.Join(home, "thumbnails"), sha256) },
	}), trail), nil
}

// LocalTrail returns the audit trail for commands of this machine.
func (inv *Invocation) LocalTrail(st store.Store) *audit.Trail {
	return audit.New(audit.Config{
		Store: st, Now: inv.Env.Now, By: audit.Actor{Kind: audit.CommandActor},
		Log: slog.New(slog.NewTextHandler(inv.ErrOut, nil)),
	})
}
