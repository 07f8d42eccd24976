package backup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// Ended is a way in that a restore has ended.
type Ended struct {
	Kind string `json:"kind"` // owner_token, grant, device, enrollment_code, passkey, recovery_codes or push_target
	Name string `json:"name"`
}

// endAccess ends every way in that may have been taken back after the backup was made, and lists them
// without the sessions, of which there may be many.
func endAccess(ctx context.Context, st store.Store, now time.Time) (ended []Ended, err error) {
	end := func(kind, name string, failed error) {
		ended = append(ended, Ended{kind, name})
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
		if failed := st.CancelDeviceCode(ctx, c.ID); !errors.Is(failed, store.ErrNotFound) { // used before, or over
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
	return ended, errors.Join(err, tokensErr, grantsErr, devicesErr, codesErr, passkeysErr, recoveryErr, targetsErr)
}
