package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

func (a *app) streamsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "streams", Short: "Show what has been collected, stream by stream", Args: noArgs,
		RunE: a.orBegin(a.withOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			id, err := a.ownedFilter(ctx, o)
			if err != nil {
				return err
			}
			streams, err := o.Streams(ctx, id)
			if err != nil {
				return err
			}
			a.printStreams(streams)
			return nil
		}), noneOf("streams")),
	}
	a.connectionFlag(cmd, "only streams of this connection")
	return cmd
}

func (a *app) printStreams(streams []api.Stream) {
	if a.json {
		writeJSON(a.out, map[string]any{"streams": streams})
		return
	}
	if len(streams) == 0 {
		printf(a.out, "Nothing has been collected yet. Begin with: pdpp connect CONNECTOR\n")
		return
	}
	t := a.table("CONNECTION", "STREAM", "RECORDS", "DELETED", "LAST CHANGE")
	for _, s := range streams {
		t.row(s.ConnectionID, s.Name, text.Number(s.Records), text.Number(s.Deleted), whenever(s.UpdatedAt))
	}
	t.flush()
}

// findStream makes sure that a stream exists, and tells which ones do otherwise.
func findStream(ctx context.Context, o api.Owner, connectionID, name string) error {
	streams, err := o.Streams(ctx, connectionID)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(streams, func(s api.Stream) bool { return s.Name == name }) {
		return nil
	}
	names := make([]string, len(streams))
	for i, s := range streams {
		names[i] = s.Name
	}
	return noStream(connectionID, name, names)
}

func noStream(connectionID, name string, names []string) *Error {
	next := "Streams of " + connectionID + " are: " + strings.Join(names, ", ")
	if len(names) == 0 {
		next = "Nothing has been collected for " + connectionID + ". Begin with: pdpp run " + connectionID
	}
	return notFound(fmt.Sprintf("there is no stream %q", name), next)
}
