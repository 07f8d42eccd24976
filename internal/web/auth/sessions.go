package auth

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// Method is how the owner signed in.
type Method string

const (
	ByPassword     Method = "password"
	ByPasskey      Method = "passkey"
	ByRecoveryCode Method = "recovery_code"
)

// SignedIn is a browser in which the owner is signed in.
type SignedIn struct {
	ID      string
	Browser string // in words, such as Firefox on Linux
	Address string // where it was when it was last seen
	Method  Method
	At      time.Time
	SeenAt  time.Time // to the hour
	Current bool      // it is the one that asks
	hash    []byte
}

// SignedIn lists the sessions that the current password holds, the last seen first.
func (d *Auth) SignedIn(ctx context.Context) ([]SignedIn, error) {
	kept, err := d.store.Sessions(ctx, d.now())
	if err != nil {
		return nil, fmt.Errorf("list the sessions: %w", err)
	}
	hash, err := d.storedHash(ctx)
	if err != nil {
		return nil, err
	}
	who, _ := From(ctx)
	var out []SignedIn
	for _, s := range kept {
		_, values, err := d.sessions.Codec.Decode(s.Data)
		if err != nil || values[keyMark] != passwordMark(hash) {
			continue // of an older password, and refused anyway
		}
		text := func(key string) string { v, _ := values[key].(string); return v }
		at := func(key string) time.Time { v, _ := values[key].(int64); return time.Unix(v, 0).UTC() }
		out = append(out, SignedIn{
			ID: sessionName(s.Hash), Browser: text(keyBrowser), Address: text(keyAddress), Method: Method(text(keyMethod)),
			At: at(keyBegan), SeenAt: at(keySeen), Current: bytes.Equal(s.Hash, who.session), hash: s.Hash,
		})
	}
	slices.SortFunc(out, func(a, b SignedIn) int { return b.SeenAt.Compare(a.SeenAt) })
	return out, nil
}

// EndSession signs a browser out; store.ErrNotFound when there is none.
func (d *Auth) EndSession(ctx context.Context, id string) error {
	all, err := d.SignedIn(ctx)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(all, func(s SignedIn) bool { return s.ID == id })
	if at < 0 {
		return store.ErrNotFound
	}
	d.sessionMutex.Lock()
	defer d.sessionMutex.Unlock()
	if err := d.store.DropSession(ctx, all[at].hash); err != nil {
		return fmt.Errorf("end the session: %w", err)
	}
	return nil
}

// EndSessions signs every browser out but the one that asks.
func (d *Auth) EndSessions(ctx context.Context) error {
	who, _ := From(ctx)
	d.sessionMutex.Lock()
	defer d.sessionMutex.Unlock()
	if err := d.store.DropSessions(ctx, who.session); err != nil {
		return fmt.Errorf("end the sessions: %w", err)
	}
	return nil
}
