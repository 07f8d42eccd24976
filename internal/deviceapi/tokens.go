package deviceapi

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

func (a *api) tokenRoutes() []reply.Route {
	return []reply.Route{
		{Pattern: "POST " + wire.Root + "/{device}/token", Handle: a.device(a.rotate)},
		{Pattern: "POST " + wire.Root + "/{device}/self-revoke", Handle: a.device(a.selfRevoke)},
	}
}

// rotate returns a new token. The old token stays valid until the new one is first used, so that a lost answer does not
// lock the device out.
func (a *api) rotate(w http.ResponseWriter, r *http.Request, c caller) error {
	token := newToken()
	err := a.Store.RotateDeviceCredential(r.Context(), store.DeviceCredential{
		ID: newID("dcred_"), DeviceID: c.Device.ID, TokenHash: digest(token), CreatedAt: a.Now(),
	})
	if errors.Is(err, store.ErrNotFound) {
		return unauthenticated("This device was revoked.")
	}
	if err != nil {
		return fmt.Errorf("replace the device's token: %w", err)
	}
	reply.JSON(w, http.StatusCreated, wire.NewToken{Object: wire.ObjectToken, DeviceID: c.Device.ID, DeviceToken: token})
	return nil
}

// selfRevoke revokes the device that sends the request.
func (a *api) selfRevoke(w http.ResponseWriter, r *http.Request, c caller) error {
	at, err := a.Store.RevokeDevice(r.Context(), c.Device.ID, a.Now())
	if err != nil {
		return fmt.Errorf("revoke the device: %w", err)
	}
	a.Audit.Record(r.Context(), audit.Entry{Kind: audit.DeviceEnd, Object: c.Device.ID, ObjectName: c.Device.DisplayName})
	reply.JSON(w, http.StatusOK, wire.Revocation{Object: wire.ObjectRevocation, DeviceID: c.Device.ID, RevokedAt: at})
	return nil
}
