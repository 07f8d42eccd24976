package doctor

import (
	"context"
	"errors"
	"fmt"

	"github.com/pdpp-go/pdpp/internal/keep/credential"
	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// stored names the variables of a connection's stored credential. It is not
// usable when something about the credential is wrong, which is then told.
func (x *examination) stored(ctx context.Context, c store.Connection) (names map[string]bool, usable bool) {
	kept, err := x.store.Credential(ctx, c.ID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, true
	case err != nil:
		x.unread(CheckConnections, err)
		return nil, false
	case kept.Status != store.CredentialActive:
		x.fail(CheckConnections, fmt.Sprintf("the credential of connection %s is %s", c.ID, kept.Status), "Store a new one: pdpp credential set "+c.ID)
		return nil, false
	case x.key.IsZero():
		return nil, false // what is wrong with the key was told
	}
	values, err := credential.OpenFor(x.key, c.ID, kept.Sealed)
	if err != nil {
		x.fail(CheckConnections, fmt.Sprintf("the credential of connection %s cannot be opened: %s", c.ID, said(err)),
			fixOf(err))
		return nil, false
	}
	names = map[string]bool{}
	for name := range values {
		names[name] = true
	}
	return names, true
}
