package deviceapi

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/web/tokenqueue"
)

// caller is the device that sends a request.
type caller struct {
	Device     store.Device
	Credential store.DeviceCredential
	// Source and Connection are set if the request names a source.
	Source     store.DeviceSource
	Connection store.Connection
}

// actor returns the device for the audit trail.
func (c caller) actor(r *http.Request) audit.Actor {
	return audit.Actor{Kind: audit.Device, ID: c.Device.ID, Name: c.Device.DisplayName, Address: tokenqueue.Origin(r)}
}

// digest returns the stored form of a code or token.
func digest(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// protocolFits rejects requests of another protocol version.
func protocolFits(r *http.Request) error {
	if r.Header.Get(wire.ProtocolHeader) != wire.ProtocolVersion {
		return errProtocol
	}
	return nil
}

// noteEvery is the minimum time between two writes of a token's last use.
const noteEvery = time.Minute

// caller returns the device of the request's token.
func (a *api) caller(r *http.Request) (c caller, err error) {
	token, err := bearer(r)
	if err != nil {
		return caller{}, err
	}
	var good bool
	// A token cannot be guessed. A token that was invalid before waits in the queue and uses no allowance.
	err = a.Strangers.LookUp(r, token, func(ctx context.Context) (bool, error) {
		var err error
		c, good, err = a.lookUp(ctx, r, token)
		return good, err
	})
	if err == nil && !good {
		err = unauthenticated("This device's token is not good: it is unknown, was replaced or revoked.")
	}
	return c, err
}

// trial counts a failed try against the address of the request. The queue admits one try of an address at a time, so
// that concurrent tries do not bypass the limit.
func (a *api) trial(r *http.Request, try func() (good bool, err error)) error {
	from := tokenqueue.Address(r)
	if _, wait := a.tries.Admit(from, false, a.Now()); wait > 0 {
		return slowDown(wait)
	}
	good, err := try()
	switch {
	case err != nil:
		a.tries.Unused(from)
	case good:
		a.tries.Succeeded(from)
	}
	return err
}

// lookUp returns the device of a token, and stores when the token was used.
func (a *api) lookUp(ctx context.Context, r *http.Request, token string) (c caller, good bool, err error) {
	if c.Credential, err = a.Store.DeviceCredential(ctx, digest(token)); err == nil {
		c.Device, err = a.Store.Device(ctx, c.Credential.DeviceID)
	}
	if errors.Is(err, store.ErrNotFound) {
		return caller{}, false, nil
	}
	if err != nil {
		return caller{}, good, fmt.Errorf("find the device: %w", err)
	}
	if c.Credential.Status != store.DeviceActive || c.Device.Status != store.DeviceActive {
		return caller{}, false, nil
	}
	now, from := a.Now(), tokenqueue.Origin(r)
	if used := c.Credential.LastUsedAt; used != nil && now.Sub(*used) < noteEvery && c.Device.LastAddress == from {
		return c, true, nil
	}
	err = a.Store.UseDeviceCredential(ctx, c.Credential.ID, from, now)
	if errors.Is(err, store.ErrNotFound) {
		return caller{}, false, nil
	}
	if err != nil {
		return caller{}, good, fmt.Errorf("note the use of a device's token: %w", err)
	}
	return c, true, nil
}

// bearer returns the token of a request.
func bearer(r *http.Request) (string, error) {
	headers := r.Header.Values("Authorization")
	if len(headers) > 1 {
		return "", unauthenticated("There is more than one Authorization header.")
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	switch {
	case !strings.EqualFold(scheme, "Bearer") || token == "":
		return "", unauthenticated("Only a device may ask for this, with its token.")
	case strings.HasPrefix(token, "pdpp_"): // of an owner or a client, valid or not
		return "", forbidden("This is the token of an owner or of a client; these addresses are for devices.")
	case len(token) != tokenLength || !strings.HasPrefix(token, wire.TokenPrefix):
		return "", unauthenticated("This is not the token of a device.")
	}
	return token, nil
}

// named sets the source that the body of a request names.
func (a *api) named(ctx context.Context, c *caller, sourceID string) error {
	return a.find(ctx, c, sourceID, http.StatusBadRequest)
}

// find sets a source of the caller, with its connection.
func (a *api) find(ctx context.Context, c *caller, sourceID string, missing int) (err error) {
	c.Source, err = a.Store.DeviceSource(ctx, sourceID)
	if errors.Is(err, store.ErrNotFound) || err == nil && (c.Source.DeviceID != c.Device.ID ||
		c.Source.Status != store.DeviceActive) {
		return &usererr.Error{Status: missing, Code: wire.CodeSourceUnknown, Param: "source_instance_id",
			Message: "This device has no such source, or another collects it now.",
			Next:    "Connect it anew: add a device in the console, or with pdpp devices add."}
	}
	if err != nil {
		return fmt.Errorf("find the source: %w", err)
	}
	c.Connection, err = a.Store.Connection(ctx, c.Source.ConnectionID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("find the connection: %w", err)
	}
	if err == nil && c.Connection.Status == store.ConnectionRevoked {
		if err := a.notDeleted(ctx, c.Connection); err != nil {
			return err
		}
	}
	if err != nil || c.Connection.Status != store.ConnectionActive {
		return &usererr.Error{Status: http.StatusForbidden, Code: wire.CodeConnectionInactive,
			Message: "The owner does not collect this connection now.",
			Next:    "Resume it in the console, or remove this source from the device."}
	}
	return nil
}

// notDeleted rejects a connection that the owner deleted with its records. The device then drops its data.
func (a *api) notDeleted(ctx context.Context, conn store.Connection) error {
	all, err := a.Store.Deletions(ctx, conn.ID)
	if err != nil {
		return fmt.Errorf("find deletions of the connection: %w", err)
	}
	for _, d := range all {
		whole := d.Kind == store.DeleteConnection || d.Kind == store.DeleteEverything
		if whole && d.State != store.DeletionUndone && d.State != store.DeletionUndoing {
			return &usererr.Error{Status: http.StatusForbidden, Code: wire.CodeSourceDeleted, Param: "source_instance_id",
				Message: "The owner deleted this connection.",
				Next:    "Drop what waits for it on this device. To collect again, connect it anew."}
		}
	}
	return nil
}
