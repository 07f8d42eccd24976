package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"pdpp/internal/ops/text"

	"github.com/spf13/cobra"

	"pdpp/internal/owner/api"
)

const selectText = `Chooses which records of a connection are collected, by the keys of its streams. Every
later run is held to it, scheduled ones too; a record that was not chosen is refused,
whoever sends it. Streams that are not named are collected whole. What was collected
before stays. The next run begins a stream anew whose choice changed.

Without options it shows what is chosen.`

func (a *app) selectCommand() *cobra.Command {
	var resources []string
	var all bool
	cmd := &cobra.Command{
		Use: "select CONNECTION", Short: "Choose which records of a connection are collected", Long: selectText,
		Example: "  pdpp select chat --resource conversations=c-17 --resource conversations=c-21\n  pdpp select chat --all",
		Args:    needArgs("the name of a connection"),
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			wanted, err := selectionOf(resources)
			if err != nil {
				return err
			}
			conn, err := pickOwned(ctx, o, args[0], byName)
			if err != nil {
				return err
			}
			if all || len(resources) > 0 {
				if err := o.SetSelection(ctx, conn.ID, wanted); err != nil {
					return err
				}
			}
			d, err := o.Connection(ctx, conn.ID)
			if err != nil {
				return err
			}
			a.printSelection(conn.ID, d.Selection)
			return nil
		}),
	}
	cmd.Flags().StringArrayVar(&resources, "resource", nil, "collect only this record of its stream, as STREAM=KEY (may be repeated)")
	cmd.Flags().BoolVar(&all, "all", false, "collect everything again")
	cmd.MarkFlagsMutuallyExclusive("resource", "all")
	return cmd
}

func (a *app) printSelection(connectionID string, s api.Selection) {
	if a.json {
		writeJSON(a.out, map[string]any{"connection_id": connectionID, "selection": s})
		return
	}
	if len(s.Streams) == 0 {
		printf(a.out, "%s collects everything.\n", connectionID)
		return
	}
	for _, c := range s.Streams {
		printf(a.out, "%s collects only %s of stream %s: %s\n", connectionID, text.Count(int64(len(c.Resources)), "record", "records"), c.Stream, oneLine(strings.Join(c.Resources, ", ")))
	}
}

// selectionOf reads STREAM=KEY pairs.
func selectionOf(pairs []string) (api.Selection, error) {
	s := api.Selection{Streams: []api.SelectedStream{}}
	for _, pair := range pairs {
		stream, key, ok := strings.Cut(pair, "=")
		if !ok || stream == "" || strings.TrimSpace(key) == "" {
			return s, usage(fmt.Sprintf("--resource %q is not a record", pair), "Write the stream and the record's key: --resource STREAM=KEY")
		}
		i := slices.IndexFunc(s.Streams, func(c api.SelectedStream) bool { return c.Stream == stream })
		if i < 0 {
			s.Streams = append(s.Streams, api.SelectedStream{Stream: stream})
			i = len(s.Streams) - 1
		}
		s.Streams[i].Resources = append(s.Streams[i].Resources, key)
	}
	return s, nil
}
