package cli

import (
	"context"

	"pdpp/internal/ops/text"

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

// streamsElsewhere lists the streams at a server, which counts live records alone.
func (a *app) streamsElsewhere(ctx context.Context, o api.Owner, _ []string) error {
	id, err := a.ownedFilter(ctx, o)
	if err != nil {
		return err
	}
	streams, err := o.Streams(ctx, id)
	if err != nil {
		return err
	}
	if a.json {
		writeJSON(a.out, map[string]any{"streams": streams})
		return nil
	}
	if len(streams) == 0 {
		printf(a.out, "Nothing has been collected yet. Connect a source: pdpp connect CONNECTOR\n")
		return nil
	}
	t := a.table("CONNECTION", "STREAM", "RECORDS", "LAST CHANGE")
	for _, s := range streams {
		t.row(s.ConnectionID, s.Name, text.Number(s.Records), whenever(s.UpdatedAt))
	}
	t.flush()
	return nil
}
