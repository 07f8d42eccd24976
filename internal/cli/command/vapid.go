package command

import (
	"context"

	"github.com/pdpp-go/pdpp/internal/schedule/notify"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

const envVAPIDPublic = "PDPP_WEB_PUSH_VAPID_PUBLIC_KEY"

const envVAPIDPrivate = "PDPP_WEB_PUSH_VAPID_PRIVATE_KEY"

// Variables with the owner's own key pair for web push.
const (
	envVAPIDSubject = "PDPP_WEB_PUSH_VAPID_SUBJECT"
)

// VAPIDKeys returns the keys that sign web push messages: from the environment, or the stored ones.
func (inv *Invocation) VAPIDKeys(ctx context.Context, st store.Store) (keys notify.VAPID, err error) {
	var values [3]string
	for i, name := range []string{envVAPIDPublic, envVAPIDPrivate, envVAPIDSubject} {
		if values[i], _, err = inv.Variable(name); err != nil {
			return keys, err
		}
	}
	if values[0] != "" || values[1] != "" {
		return notify.NewVAPID(values[0], credential.NewSecret(values[1]), values[2])
	}
	key, err := inv.CredentialKey()
	if err != nil {
		return keys, err
	}
	return notify.LoadVAPID(ctx, st, key, values[2], inv.Env.Now())
}
