package cli

import (
	"context"

	"github.com/spf13/cobra"

	"pdpp/internal/keep/store"
	"pdpp/internal/owner/api"
)

// hereOrElsewhere makes a command that does more over the store of this machine than a
// server elsewhere offers, and the same as far as that goes.
func (a *app) hereOrElsewhere(here func(context.Context, store.Store, []string) error, elsewhere func(context.Context, api.Owner, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		r, err := a.server()
		if err != nil {
			return err
		}
		if r != nil {
			return elsewhere(cmd.Context(), r.owner(), args)
		}
		return a.withStore(here)(cmd, args)
	}
}
