package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"pdpp/internal/ops/text"

	"github.com/spf13/cobra"

	"pdpp/internal/keep/store"
)

// streamRow is a stream with the connection it belongs to.
type streamRow struct {
	ConnectionID string `json:"connection_id"`
	store.StreamInfo
}

func (a *app) streamsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "streams", Short: "Show what has been collected, stream by stream", Args: noArgs,
		RunE: a.orBegin(a.hereOrElsewhere(func(ctx context.Context, st store.Store, _ []string) error {
			rows, err := a.streamRows(ctx, st)
			if err != nil {
				return err
			}
			a.printStreams(rows)
			return nil
		}, a.streamsElsewhere), noneOf("streams")),
	}
	a.connectionFlag(cmd, "only streams of this connection")
	return cmd
}

func (a *app) streamRows(ctx context.Context, st store.Store) ([]streamRow, error) {
	all, err := st.ListConnections(ctx)
	if err != nil {
		return nil, err
	}
	if a.connection != "" {
		c, err := named(all, a.connection, byFlag)
		if err != nil {
			return nil, err
		}
		all = []store.Connection{c}
	}
	var rows []streamRow
	for _, c := range all {
		streams, err := st.Streams(ctx, c.ID)
		if err != nil {
			return nil, err
		}
		for _, s := range streams {
			rows = append(rows, streamRow{c.ID, s})
		}
	}
	return rows, nil
}

func (a *app) printStreams(rows []streamRow) {
	if a.json {
		writeJSON(a.out, map[string]any{"streams": rows})
		return
	}
	if len(rows) == 0 {
		printf(a.out, "Nothing has been collected yet. Begin with: pdpp run CONNECTOR\n")
		return
	}
	t := a.table("CONNECTION", "STREAM", "RECORDS", "DELETED", "LAST CHANGE")
	for _, r := range rows {
		t.row(r.ConnectionID, r.Name, text.Number(r.Records), text.Number(r.Deleted), whenever(r.ChangedAt))
	}
	t.flush()
}

// stream makes sure that a stream exists, and tells which ones do otherwise.
func findStream(ctx context.Context, st store.Store, connectionID, name string) (store.StreamInfo, error) {
	streams, err := st.Streams(ctx, connectionID)
	if err != nil {
		return store.StreamInfo{}, err
	}
	if i := slices.IndexFunc(streams, func(s store.StreamInfo) bool { return s.Name == name }); i >= 0 {
		return streams[i], nil
	}
	names := make([]string, len(streams))
	for i, s := range streams {
		names[i] = s.Name
	}
	return store.StreamInfo{}, noStream(connectionID, name, names)
}

func noStream(connectionID, name string, names []string) *Error {
	next := "Streams of " + connectionID + " are: " + strings.Join(names, ", ")
	if len(names) == 0 {
		next = "Nothing has been collected for " + connectionID + ". Begin with: pdpp run " + connectionID
	}
	return notFound(fmt.Sprintf("there is no stream %q", name), next)
}
