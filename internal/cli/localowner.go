package cli

import (
	"cmp"
	"context"
	"log/slog"
	"path/filepath"

	"github.com/pdpp-go/pdpp/internal/keep/audit"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/keep/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service"
	"github.com/pdpp-go/pdpp/internal/owner/service/audited"
	"github.com/pdpp-go/pdpp/internal/owner/thumbnail"
	"github.com/pdpp-go/pdpp/internal/schedule/notify"
	"github.com/pdpp-go/pdpp/internal/web/auth"
)

// localOwner is the owner's service over the store of this machine.
func (a *app) localOwner(st store.Store) (api.Owner, error) {
	connectors, err := a.connectors()
	if err != nil {
		return nil, err
	}
	url, err := a.postgresURL()
	if err != nil {
		return nil, err
	}
	home, err := a.homeDir()
	if err != nil && url == "" {
		return nil, err
	}
	database := "sqlite"
	if url != "" {
		database = "postgres"
	}
	base, _, err := a.variable(envBaseURL)
	if err != nil {
		return nil, err
	}
	listen, _, err := a.variable(envListen)
	if err != nil {
		return nil, err
	}
	files, err := a.blobs()
	if err != nil && home != "" {
		return nil, err
	}
	trail := a.localTrail(st)
	return audited.Owner(service.New(service.Config{
		Store: st, Connectors: connectors, Key: a.credentialKey, Opening: a.existingKey, Access: auth.New(auth.Config{Store: st, Now: a.env.Now, HashCost: a.env.HashCost, Audit: trail}),
		VAPID: func(ctx context.Context) (notify.VAPID, error) { return a.vapid(ctx, st) },
		Base:  base, Address: "http://" + cmp.Or(listen, defaultListen), Version: buildVersion().Version, Home: home, Database: database, Files: files.Place, Now: a.env.Now, Lookup: a.childVariable,
		ForgetPicture: func(sha256 string) error { return thumbnail.Remove(filepath.Join(home, "thumbnails"), sha256) },
	}), trail), nil
}

// localTrail is where the commands of this machine write down what they do.
func (a *app) localTrail(st store.Store) *audit.Trail {
	return audit.New(audit.Config{
		Store: st, Now: a.env.Now, By: audit.Actor{Kind: audit.Command}, Log: slog.New(slog.NewTextHandler(a.errOut, nil)),
	})
}

// recordAt writes an entry into the trail of a home. What it is about has been done, so
// that trouble with the trail is a warning.
func (a *app) recordAt(ctx context.Context, home string, e audit.Entry) {
	st, err := sqlite.Open(ctx, filepath.Join(home, databaseFile), sqlite.Options{BusyTimeout: a.env.BusyTimeout})
	if err != nil {
		printf(a.errOut, "warning: the audit trail of %s was not written: %s\n", home, safe(err.Error()))
		return
	}
	defer st.Close()
	a.localTrail(st).Record(ctx, e)
}
