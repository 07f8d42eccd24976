package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/providerauth"
	"github.com/pdpp-go/pdpp/internal/keep/credential"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/ops/fault"
)

const envCredentialKey = "PDPP_CREDENTIAL_ENCRYPTION_KEY"

// credentialKey opens what is kept sealed: the key that the environment gives, or
// else the key file in the home folder, which is made at its first use.
func (a *app) credentialKey() (credential.Key, error) {
	key, home, err := a.configuredKey()
	if err != nil || !key.IsZero() {
		return key, err
	}
	return credential.LoadKey(home)
}

// existingKey is credentialKey for what is sealed already: it makes no key,
// since a new one would open nothing.
func (a *app) existingKey() (credential.Key, error) {
	key, home, err := a.configuredKey()
	if err != nil || !key.IsZero() {
		return key, err
	}
	path := filepath.Join(home, credential.KeyFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return credential.Key{}, &fault.Fault{Code: credential.CodeWrongKey, Message: path + " is missing, and only the key in it opens what is stored",
			Next: "Restore the file from a backup, or enter the secrets again."}
	}
	return credential.LoadKey(home)
}

// configuredKey is the key that the environment gives. It is zero when there is
// none, and the key file is in the home folder.
func (a *app) configuredKey() (key credential.Key, home string, err error) {
	text, _, err := a.variable(envCredentialKey)
	if err != nil {
		return key, "", err
	}
	if text == "" {
		home, err = a.homeDir()
		return key, home, err
	}
	if key, err = credential.ParseKey(text); err != nil {
		e := describe(err)
		e.Message = envCredentialKey + ": " + e.Message
		return key, "", e
	}
	return key, "", nil
}

// storedSecrets gives runs the stored credentials of their connections. The key
// is asked for only where there is one, so that a run makes no key.
func (a *app) storedSecrets(st store.Credentials) func(ctx context.Context, connectionID string) (launch.Secrets, error) {
	return func(ctx context.Context, connectionID string) (launch.Secrets, error) {
		var key credential.Key
		c, err := st.Credential(ctx, connectionID)
		if err == nil && c.Status != store.CredentialRevoked {
			if key, err = a.existingKey(); err != nil {
				return launch.Secrets{}, err
			}
		}
		return launch.StoredSecrets(st, key)(ctx, connectionID)
	}
}

// tokens keeps those of connections whose owner signs in at the provider.
func (a *app) tokens(st providerauth.Store) *providerauth.Keeper {
	return &providerauth.Keeper{Store: st, Key: a.existingKey, Lookup: a.childVariable, Now: a.env.Now}
}
