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

const selectText = `Chooses what a connection collects: the streams of a profile that its connector declares,
the fields of a view, or single records by the keys of their streams (by the field that
the connector names for it, where it names one). Every later run is held to it, scheduled
ones too; what was not chosen is refused, whoever sends it. Streams that are not named are
collected whole. The options together are the whole choice, and what was chosen before
counts no more. What was collected before stays. The next run begins a stream anew whose
choice changed.

A stream that you deleted is not collected either, whatever is chosen.

Without options it shows what is chosen. pdpp connectors show lists profiles and views.`

func (a *app) selectCommand() *cobra.Command {
	var f selectFlags
	var all bool
	cmd := &cobra.Command{
		Use: "select CONNECTION", Short: "Choose what a connection collects", Long: selectText,
		Example: "  pdpp select bank --profile reconciliation\n  pdpp select mail --view messages=envelope\n  pdpp select chat --resource conversations=c-17 --resource conversations=c-21\n  pdpp select chat --all",
		Args:    needArgs("the name of a connection"),
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			wanted, err := f.selection()
			if err != nil {
				return err
			}
			conn, err := pickOwned(ctx, o, args[0], byName)
			if err != nil {
				return err
			}
			if all || f.given() {
				if err := o.SetSelection(ctx, conn.ID, wanted); err != nil {
					return err
				}
			}
			d, err := o.Connection(ctx, conn.ID)
			if err != nil {
				return err
			}
			a.printSelection(conn.ID, d)
			return nil
		}),
	}
	f.declare(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "collect everything again")
	for _, name := range []string{"profile", "view", "resource"} {
		cmd.MarkFlagsMutuallyExclusive(name, "all")
	}
	return cmd
}

// selectFlags are a choice of what is collected.
type selectFlags struct {
	profile          string
	views, resources []string
}

func (f *selectFlags) declare(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.profile, "profile", "", "collect only the streams of this profile")
	flags.StringArrayVar(&f.views, "view", nil, "collect only the fields of this view, as STREAM=VIEW (may be repeated)")
	flags.StringArrayVar(&f.resources, "resource", nil, "collect only this record of its stream, as STREAM=KEY (may be repeated)")
}

func (f *selectFlags) given() bool { return f.profile != "" || len(f.views)+len(f.resources) > 0 }

func (f *selectFlags) selection() (api.Selection, error) {
	s, err := selectionOf(f.resources)
	if err != nil {
		return s, err
	}
	s.Profile = f.profile
	for _, pair := range f.views {
		stream, view, ok := strings.Cut(pair, "=")
		if !ok || stream == "" || view == "" {
			return s, usage(fmt.Sprintf("--view %q is not a view", pair), "Write the stream and its view: --view STREAM=VIEW")
		}
		at := namedIn(&s, stream)
		if at.View != "" {
			return s, usage("--view names the stream "+stream+" twice", "Choose one of its views.")
		}
		at.View = view
	}
	return s, nil
}

// namedIn finds a stream of a selection, and adds it when it is not there.
func namedIn(s *api.Selection, stream string) *api.SelectedStream {
	i := slices.IndexFunc(s.Streams, func(c api.SelectedStream) bool { return c.Stream == stream })
	if i < 0 {
		s.Streams = append(s.Streams, api.SelectedStream{Stream: stream})
		i = len(s.Streams) - 1
	}
	return &s.Streams[i]
}

func (a *app) printSelection(connectionID string, d api.Detail) {
	s := d.Selection
	if a.json {
		writeJSON(a.out, map[string]any{"connection_id": connectionID, "selection": s, "not_collected": d.NotCollected})
		return
	}
	switch {
	case s.Profile != "":
		printf(a.out, "%s collects only the streams of profile %s.\n", connectionID, oneLine(s.Profile))
	case len(s.Streams) == 0 && len(d.NotCollected) == 0:
		printf(a.out, "%s collects everything.\n", connectionID)
	}
	for _, c := range s.Streams {
		if c.View != "" {
			printf(a.out, "%s collects only the fields of view %s of stream %s.\n", connectionID, oneLine(c.View), c.Stream)
		}
		if len(c.Resources) > 0 {
			printf(a.out, "%s collects only %s of stream %s: %s\n", connectionID, text.Count(int64(len(c.Resources)), "record", "records"), c.Stream, oneLine(strings.Join(c.Resources, ", ")))
		}
	}
	for _, n := range d.NotCollected {
		how := "To collect it again: pdpp deletions collect "
		if n.CanBeUndone() {
			how = "To have it back: pdpp deletions undo "
		}
		printf(a.out, "%s does not collect the stream %s: you deleted it. %s%s\n", connectionID, n.Stream, how, n.DeletionID)
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
		at := namedIn(&s, stream)
		at.Resources = append(at.Resources, key)
	}
	return s, nil
}
