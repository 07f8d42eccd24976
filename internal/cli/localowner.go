package cli

import (
	"log/slog"

	"pdpp/internal/audit"
	"pdpp/internal/auth"
	"pdpp/internal/owner"
	"pdpp/internal/owner/audited"
	"pdpp/internal/ownerapi"
	"pdpp/internal/store"
)

// localOwner is the owner's service over the store of this machine.
func (a *app) localOwner(st store.Store) (ownerapi.Owner, error) {
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
	return audited.Owner(owner.New(owner.Config{
		Store: st, Connectors: connectors, Key: a.credentialKey, OwnerTokens: auth.New(auth.Config{Store: st, Now: a.env.Now}),
		Base: base, Version: buildVersion().Version, Home: home, Database: database, Now: a.env.Now,
	}), a.localTrail(st)), nil
}

// localTrail is where the commands of this machine write down what they do.
func (a *app) localTrail(st store.Store) *audit.Trail {
	return audit.New(audit.Config{
		Store: st, Now: a.env.Now, By: audit.Actor{Kind: audit.Command}, Log: slog.New(slog.NewTextHandler(a.errOut, nil)),
	})
}
