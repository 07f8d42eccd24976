package doctor

import (
	"context"
	"errors"
	"fmt"

	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// storedVariables returns the variables of a connection's stored credential. It returns false when the credential is
// invalid, and reports that.
func (x *checkup) storedVariables(ctx context.Context, c store.Connection) (names map[string]bool, usable bool) {
	kept, err := x.store.Credential(ctx, c.ID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, true
	case err != nil:
		x.reportUnreadable(CheckConnections, err)
		return nil, false
	case kept.Status != store.CredentialActive:
		x.reportFailure(CheckConnections, fmt.Sprintf("the credential of connection %s is %s", c.ID, kept.Status),
			"Store a new one: pdpp credential set "+c.ID)
		return nil, false
	case x.key.IsZero():
		return nil, false // the key's problem was reported already
	}
	values, err := credential.OpenFor(x.key, c.ID, kept.Sealed)
	if err != nil {
		x.reportFailure(CheckConnections, fmt.Sprintf("the credential of connection %s cannot be opened: %s", c.ID,
			errorLine(err)),
			fixOf(err))
		return nil, false
	}
	names = map[string]bool{}
	for name := range values {
		names[name] = true
	}
	return names, true
}
