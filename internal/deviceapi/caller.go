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
	"github.com/pdpp-go/pdpp/internal/keep/audit"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/ops/fault"
	"github.com/pdpp-go/pdpp/internal/web/strangers"
)

// caller is the device that a request comes from.
type caller struct {
	Device     store.Device
	Credential store.DeviceCredential
	// Source and Connection are what the request is about, where it names a source.
	Source     store.DeviceSource
	Connection store.Connection
}

// actor is who the audit trail names.
func (c caller) actor(r *http.Request) audit.Actor {
	return audit.Actor{Kind: audit.Device, ID: c.Device.ID, Name: c.Device.DisplayName, Address: strangers.Origin(r)}
}

// digest is how a code or a token rests.
func digest(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// protocolFits refuses who speaks another version of the messages.
func protocolFits(r *http.Request) error {
	if r.Header.Get(wire.ProtocolHeader) != wire.ProtocolVersion {
		return errProtocol
	}
	return nil
}

// noteEvery is how often the use of a token is written down.
const noteEvery = time.Minute

// caller says which device shows its token.
func (a *api) caller(r *http.Request) (c caller, err error) {
	token, err := bearer(r)
	if err != nil {
		return caller{}, err
	}
	good := false
	// A token cannot be guessed. One that was not good before waits in line, and uses up no allowance.
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

// trial counts a try to come in against the address that it comes from. The lines of
// strangers let one at a time in, so that many at once are no way around.
func (a *api) trial(r *http.Request, try func() (good bool, err error)) error {
	from := strangers.Address(r)
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

// lookUp finds the device of a token, and notes that it was shown.
func (a *api) lookUp(ctx context.Context, r *http.Request, token string) (c caller, good bool, err error) {
	if c.Credential, err = a.Store.DeviceCredential(ctx, digest(token)); err == nil {
		c.Device, err = a.Store.Device(ctx, c.Credential.DeviceID)
	}
	if errors.Is(err, store.ErrNotFound) {
		return caller{}, false, nil
	}
	if err != nil {
		return caller{}, false, fmt.Errorf("find the device: %w", err)
	}
	if c.Credential.Status != store.DeviceActive || c.Device.Status != store.DeviceActive {
		return caller{}, false, nil
	}
	now, from := a.Now(), strangers.Origin(r)
	if used := c.Credential.LastUsedAt; used != nil && now.Sub(*used) < noteEvery && c.Device.LastAddress == from {
		return c, true, nil
	}
	err = a.Store.UseDeviceCredential(ctx, c.Credential.ID, from, now)
	if errors.Is(err, store.ErrNotFound) {
		return caller{}, false, nil
	}
	if err != nil {
		return caller{}, false, fmt.Errorf("note the use of a device's token: %w", err)
	}
	return c, true, nil
}

// bearer is the token that a request shows.
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
	case strings.HasPrefix(token, "pdpp_"): // of an owner or a client, good or not
		return "", forbidden("This is the token of an owner or of a client; these addresses are for devices.")
	case len(token) != tokenLength || !strings.HasPrefix(token, wire.TokenPrefix):
		return "", unauthenticated("This is not the token of a device.")
	}
	return token, nil
}

// named gives the caller with a source that the body of its request names.
func (a *api) named(ctx context.Context, c *caller, sourceID string) error {
	return a.find(ctx, c, sourceID, http.StatusBadRequest)
}

// find gives the caller one of its sources, with the connection.
func (a *api) find(ctx context.Context, c *caller, sourceID string, missing int) (err error) {
	c.Source, err = a.Store.DeviceSource(ctx, sourceID)
	if errors.Is(err, store.ErrNotFound) || err == nil && (c.Source.DeviceID != c.Device.ID || c.Source.Status != store.DeviceActive) {
		return &fault.Fault{Status: missing, Code: wire.CodeSourceUnknown, Param: "source_instance_id",
			Message: "This device has no such source, or another collects it now.", Next: "Connect it anew: add a device in the console, or with pdpp devices add."}
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
		return &fault.Fault{Status: http.StatusForbidden, Code: wire.CodeConnectionInactive,
			Message: "The owner does not collect this connection now.", Next: "Resume it in the console, or remove this source from the device."}
	}
	return nil
}

// notDeleted refuses a connection that the owner deleted with its records: the device is to drop what it has of it.
func (a *api) notDeleted(ctx context.Context, conn store.Connection) error {
	all, err := a.Store.Deletions(ctx, conn.ID)
	if err != nil {
		return fmt.Errorf("find deletions of the connection: %w", err)
	}
	for _, d := range all {
		whole := d.Kind == store.DeleteConnection || d.Kind == store.DeleteEverything
		if whole && d.State != store.DeletionUndone && d.State != store.DeletionUndoing {
			return &fault.Fault{Status: http.StatusForbidden, Code: wire.CodeSourceDeleted, Param: "source_instance_id",
				Message: "The owner deleted this connection.",
				Next:    "Drop what waits for it on this device. To collect again, connect it anew."}
		}
	}
	return nil
}
