package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const deleteText = `Deletes what was collected: a whole connection, which ends with it, one stream of it, the
records of a range of time, a single record, or everything. Without --yes it counts what
would be deleted and asks.

Deleted records are hidden at once from every list, search, export and grant, with their
history and files. For seven days pdpp deletions undo brings them back. Then they are
removed for good and the database is rewritten, so that nothing of them is left in its
files; --now does that without delay. Backups from before are not touched.

What you delete does not come back with the next run. Of a single record a hash of its key
is remembered for that, of a range its bounds.

To end a connection and keep its records use pdpp revoke.`

const deleteExamples = `  pdpp delete github                                   the connection and its records
  pdpp delete github --now                             without a way back
  pdpp delete github --stream issues                   one stream; it is not collected any more
  pdpp delete github --until 2020-01-01                what is older
  pdpp delete --since 2024-05-01 --until 2024-06-01    a month, of all connections
  pdpp delete github --stream issues --record 4711     one record
  pdpp delete --everything
  pdpp deletions                                       receipts, and what can be undone`

type deleteFlags struct {
	stream, since, until, record string
	everything, now, yes, dry    bool
}

func (a *app) deleteCommand() *cobra.Command {
	var f deleteFlags
	cmd := &cobra.Command{
		Use: "delete [CONNECTION]", Short: "Delete what was collected", Long: deleteText, Example: deleteExamples,
		Args: cobra.MaximumNArgs(1),
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error { return a.delete(ctx, o, args, f) }),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.stream, "stream", "", "only records of this stream")
	flags.StringVar(&f.since, "since", "", "only records from this date or time on")
	flags.StringVar(&f.until, "until", "", "only records before this date or time")
	flags.StringVar(&f.record, "record", "", "only the record with this key")
	flags.BoolVar(&f.everything, "everything", false, "all records of all connections, which end")
	flags.BoolVar(&f.now, "now", false, "remove it for good at once, without a way back")
	flags.BoolVar(&f.yes, "yes", false, "do not ask")
	flags.BoolVar(&f.dry, "dry-run", false, "only count what would be deleted")
	cmd.MarkFlagsMutuallyExclusive("yes", "dry-run")
	return cmd
}

// wanted is what the arguments ask for.
func (f deleteFlags) wanted(ctx context.Context, o api.Owner, args []string) (r api.DeletionRequest, err error) {
	r = api.DeletionRequest{Scope: "connection", Stream: f.stream, Since: f.since, Until: f.until, Key: f.record,
		Now: f.now}
	if len(args) > 0 {
		conn, err := pickOwned(ctx, o, args[0], byName)
		if err != nil {
			return r, err
		}
		r.ConnectionID = conn.ID
	}
	ranged := f.since != "" || f.until != ""
	switch {
	case f.everything && (len(args) > 0 || f.stream != "" || ranged || f.record != ""):
		return r, usage("everything is everything", "Leave out the rest, or --everything")
	case f.everything:
		r.Scope = "everything"
	case f.record != "" && ranged:
		return r, usage("a record is named by its key or by its time, not both", "Leave out one of them")
	case f.record != "" && f.stream == "":
		return r, usage("the key of a record is one of a stream", "Name it: --stream STREAM")
	case ranged:
		r.Scope = "range"
	case f.record != "":
		r.Scope = "record"
	case f.stream != "":
		r.Scope = "stream"
	}
	if r.ConnectionID == "" && r.Scope != "everything" && (r.Scope != "range" || f.stream != "") {
		return r, usage("nothing is named that is to be deleted",
			"Write it like pdpp delete CONNECTION, or pdpp delete --everything")
	}
	return r, nil
}

func (a *app) delete(ctx context.Context, o api.Owner, args []string, f deleteFlags) error {
	wanted, err := f.wanted(ctx, o, args)
	if err != nil {
		return err
	}
	if !f.yes {
		preview, err := o.PreviewDeletion(ctx, wanted)
		if err != nil {
			return err
		}
		if f.dry {
			a.tellDeletion(preview)
			return nil
		}
		if err := a.confirmDeletion(ctx, preview); err != nil {
			return err
		}
	}
	d, err := o.Delete(ctx, wanted)
	if err == nil {
		d, err = a.untilSettled(ctx, o, d)
	}
	if err != nil {
		return err
	}
	a.tellDeletion(d)
	return nil
}

// confirmDeletion shows what would be deleted and asks for the word.
func (a *app) confirmDeletion(ctx context.Context, preview api.Deletion) error {
	message := strings.Join(append([]string{preview.What + ": " + preview.Happened, preview.Next}, preview.Notes...), "\n")
	fields := []api.QuestionField{{Name: "word", Label: "Type delete to go on", Required: true}}
	answers, err := a.askOwner(ctx, message, "(Ctrl-D to leave)", fields,
		"Say so with --yes, or look first with --dry-run.")
	if err != nil || answers["word"] != "delete" {
		if err == nil {
			err = errUnchanged
		}
		return err
	}
	return nil
}

// pollDeletion is the pause between two looks at a deletion that a server works on.
const pollDeletion = 500 * time.Millisecond

// untilSettled waits until a deletion needs no more work now.
func (a *app) untilSettled(ctx context.Context, o api.Owner, d api.Deletion) (api.Deletion, error) {
	for d.Working() && d.Trouble == "" {
		select {
		case <-ctx.Done():
			return d, nil // it goes on without us
		case <-time.After(pollDeletion):
		}
		var err error
		if d, err = o.DeletionByID(ctx, d.ID); err != nil {
			return d, err
		}
	}
	return d, nil
}

func (a *app) tellDeletion(d api.Deletion) {
	if a.json {
		writeJSON(a.out, d)
		return
	}
	printf(a.out, "%s: %s\n", oneLine(d.What), oneLine(d.Happened))
	if d.Trouble != "" {
		printf(a.out, "Trouble: %s\n", oneLine(d.Trouble))
	}
	if d.Next != "" {
		printf(a.out, "%s\n", oneLine(d.Next))
	}
	for _, note := range d.Notes {
		printf(a.out, "%s\n", oneLine(note))
	}
	if d.Undoable {
		printf(a.out, "Undo: pdpp deletions undo %s\n", d.ID)
	}
}

const deletionsText = `Receipts of what you deleted, the newest first. A deletion that is not yet removed for good
can be undone. What was removed for good stays out: pdpp deletions collect lets runs
collect it again.`

const deletionsExamples = `  pdpp deletions
  pdpp deletions show del_3k5x
  pdpp deletions undo del_3k5x
  pdpp deletions purge del_3k5x        remove it for good now
  pdpp deletions collect del_3k5x      let runs collect it again
  pdpp deletions ended                 connections that collect no more
  pdpp deletions held 2026-03-01       what a backup of then still holds`

func (a *app) deletionsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "deletions", Short: "What you deleted, and undo", Long: deletionsText, Example: deletionsExamples, Args: noArgs,
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			all, err := o.Deletions(ctx)
			if err != nil {
				return err
			}
			a.printDeletions(all)
			return nil
		}),
	}
	change := func(use, short string, do func(api.Owner, context.Context, string) (api.Deletion, error)) *cobra.Command {
		return &cobra.Command{
			Use: use + " DELETION", Short: short, Example: "  pdpp deletions " + use + " del_3k5x",
			Args: needArgs("the id of a deletion"),
			RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
				d, err := do(o, ctx, args[0])
				if err == nil && use != "show" {
					d, err = a.untilSettled(ctx, o, d)
				}
				if err != nil {
					return err
				}
				a.tellDeletion(d)
				return nil
			}),
		}
	}
	cmd.AddCommand(
		change("show", "One receipt", func(o api.Owner, ctx context.Context, id string) (api.Deletion, error) {
			return o.DeletionByID(ctx, id)
		}),
		change("undo", "Bring deleted records back", func(o api.Owner, ctx context.Context, id string) (api.Deletion, error) {
			return o.UndoDeletion(ctx, id)
		}),
		change("purge", "Remove deleted records for good now",
			func(o api.Owner, ctx context.Context, id string) (api.Deletion, error) {
				return o.PurgeDeletion(ctx, id)
			}),
		change("collect", "Let runs collect again what was deleted",
			func(o api.Owner, ctx context.Context, id string) (api.Deletion, error) {
				return o.CollectDeleted(ctx, id)
			}),
		a.endedCommand(), a.heldCommand())
	return cmd
}

func (a *app) printDeletions(all []api.Deletion) {
	if a.json {
		writeJSON(a.out, map[string]any{"deletions": all})
		return
	}
	if len(all) == 0 {
		printf(a.out, "Nothing was deleted.\n")
		return
	}
	t := a.table("DELETED", "WHAT", "RECORDS", "STATE", "DELETION")
	for _, d := range all {
		t.row(d.AskedAt.UTC().Format(time.DateOnly), text.Cut(oneLine(d.What), 40), fmt.Sprint(d.Records), d.State, d.ID)
	}
	t.flush()
}

func (a *app) endedCommand() *cobra.Command {
	return &cobra.Command{
		Use: "ended", Short: "Connections that collect no more", Example: "  pdpp deletions ended", Args: noArgs,
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			all, err := o.EndedConnections(ctx)
			if err != nil {
				return err
			}
			if a.json {
				writeJSON(a.out, map[string]any{"connections": all})
				return nil
			}
			if len(all) == 0 {
				printf(a.out, "No connection has ended.\n")
				return nil
			}
			t := a.table("ENDED", "NAME", "RECORDS", "CONNECTION", "DELETED")
			for _, e := range all {
				deleted := "kept; delete with pdpp delete " + e.ConnectionID
				if e.Deletion != nil {
					deleted = e.Deletion.State + " (" + e.Deletion.ID + ")"
				}
				t.row(e.EndedAt.UTC().Format(time.DateOnly), text.Cut(oneLine(e.DisplayName), 40), fmt.Sprint(e.Records),
					e.ConnectionID, deleted)
			}
			t.flush()
			return nil
		}),
	}
}

func deletionNames(ctx context.Context, o api.Owner) (out []cobra.Completion) {
	all, _ := o.Deletions(ctx)
	for _, d := range all {
		out = append(out, cobra.CompletionWithDesc(d.ID, d.What))
	}
	return out
}
