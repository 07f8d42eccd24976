package cli

import (
	"pdpp/internal/auth"
	"pdpp/internal/owner"
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
	return owner.New(owner.Config{
		Store: st, Connectors: connectors, Key: a.credentialKey, OwnerTokens: auth.New(auth.Config{Store: st, Now: a.env.Now}),
		Base: base, Version: buildVersion().Version, Home: home, Database: database, Now: a.env.Now,
	}), nil
}
