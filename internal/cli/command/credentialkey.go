package command

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/providerauth"
	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// EnvCredentialKey is the variable with the key that seals secrets.
const EnvCredentialKey = "PDPP_CREDENTIAL_ENCRYPTION_KEY"

// CredentialKey returns the key that seals secrets: from the environment, or from the key file in the home folder,
// which is created on first use.
func (inv *Invocation) CredentialKey() (credential.Key, error) {
	key, home, err := inv.ConfiguredKey()
	if err != nil || !key.IsZero() {
		return key, err
	}
	return credential.LoadKey(home)
}

// ExistingKey is like CredentialKey but creates no key, because a new key opens nothing that is sealed already.
func (inv *Invocation) ExistingKey() (credential.Key, error) {
	key, home, err := inv.ConfiguredKey()
	if err != nil || !key.IsZero() {
		return key, err
	}
	path := filepath.Join(home, credential.KeyFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return credential.Key{}, &usererr.Error{Code: credential.CodeWrongKey, Message: path +
			" is missing, and only the key in it opens what is stored",
			Next: "Restore the file from a backup, or enter the secrets again."}
	}
	return credential.LoadKey(home)
}

// ConfiguredKey returns the key from the environment. If there is none, the key is zero and home is the folder of the
// key file.
func (inv *Invocation) ConfiguredKey() (key credential.Key, home string, err error) {
	text, _, err := inv.Variable(EnvCredentialKey)
	if err != nil {
		return key, "", err
	}
	if text == "" {
		home, err = inv.HomeFolder()
		return key, home, err
	}
	if key, err = credential.ParseKey(text); err != nil {
		e := failure.Describe(err)
		e.Message = EnvCredentialKey + ": " + e.Message
		return key, "", e
	}
	return key, "", nil
}

// StoredSecrets returns the function that opens stored credentials for runs. It needs the key only for a connection
// that has a credential.
func (inv *Invocation) StoredSecrets(st store.Credentials) func(ctx context.Context,
	connectionID string) (launch.Secrets, error) {
	return func(ctx context.Context, connectionID string) (launch.Secrets, error) {
		var key credential.Key
		c, err := st.Credential(ctx, connectionID)
		if err == nil && c.Status != store.CredentialRevoked {
			if key, err = inv.ExistingKey(); err != nil {
				return launch.Secrets{}, err
			}
		}
		return launch.StoredSecrets(st, key)(ctx, connectionID)
	}
}

// ProviderTokens returns the keeper of tokens for connections that sign in at a provider.
func (inv *Invocation) ProviderTokens(st providerauth.Store) *providerauth.Keeper {
	return &providerauth.Keeper{Store: st, Key: inv.ExistingKey, Lookup: inv.ChildVariable, Now: inv.Env.Now}
}
