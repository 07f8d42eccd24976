package backup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// EndedAccess is a token, grant or other access that a restore has ended.
type EndedAccess struct {
	Kind string `json:"kind"` // owner_token, grant, device, enrollment_code, passkey, recovery_codes or push_target
	Name string `json:"name"`
}

// endAccess ends every access that may have been revoked after the backup was made. It lists them without the
// sessions, of which there may be many.
func endAccess(ctx context.Context, st store.Store, now time.Time) (ended []EndedAccess, err error) {
	end := func(kind, name string, failed error) {
		ended = append(ended, EndedAccess{kind, name})
		err = errors.Join(err, failed)
	}
	if err := st.DropSessions(ctx, nil); err != nil {
		return nil, err
	}
	tokens, tokensErr := st.OwnerTokens(ctx)
	for _, t := range tokens {
		if t.RevokedAt == nil {
			end("owner_token", t.Label, st.RevokeOwnerToken(ctx, t.ID, now))
		}
	}
	grants, grantsErr := st.Grants(ctx)
	for _, g := range grants {
		if g.RevokedAt == nil {
			end("grant", g.ClientName, st.RevokeGrant(ctx, g.ID, now))
		}
	}
	devices, devicesErr := st.ListDevices(ctx)
	for _, d := range devices {
		if d.RevokedAt == nil {
			_, failed := st.RevokeDevice(ctx, d.ID, now)
			end("device", d.DisplayName, failed)
		}
	}
	codes, codesErr := st.DeviceCodes(ctx)
	for _, c := range codes {
		// already used or expired
		if failed := st.CancelDeviceCode(ctx, c.ID); !errors.Is(failed, store.ErrNotFound) {
			end("enrollment_code", c.ID, failed)
		}
	}
	passkeys, passkeysErr := st.Passkeys(ctx)
	for _, k := range passkeys {
		end("passkey", k.Label, st.DropPasskey(ctx, k.ID))
	}
	recovery, recoveryErr := st.RecoveryCodes(ctx)
	if recovery.Made > 0 {
		end("recovery_codes", fmt.Sprintf("%d unused", recovery.Left), st.PutRecoveryCodes(ctx, nil, now))
	}
	targets, targetsErr := st.Targets(ctx)
	for _, t := range targets {
		end("push_target", t.Label, st.DeleteTarget(ctx, t.ID))
	}
	webhooks, webhooksErr := st.Webhooks(ctx)
	for _, w := range webhooks {
		end("webhook", w.Name, st.DeleteWebhook(ctx, w.ID))
	}
	triggers, triggersErr := st.Triggers(ctx)
	for _, t := range triggers {
		end("trigger", t.ConnectionID, st.DeleteTrigger(ctx, t.ID))
	}
	embedding, embeddingErr := st.Embedding(ctx)
	if embeddingErr == nil {
		end("semantic_search", embedding.Address, st.EndEmbedding(ctx))
	} else if errors.Is(embeddingErr, store.ErrNotFound) {
		embeddingErr = nil
	}
	return ended, errors.Join(err, tokensErr, grantsErr, devicesErr, codesErr, passkeysErr, recoveryErr, targetsErr,
		webhooksErr, triggersErr, embeddingErr)
}
