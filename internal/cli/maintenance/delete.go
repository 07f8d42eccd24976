package maintenance

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const deleteHelp = `Deletes collected data: a whole connection, which ends it, one of its streams, the
records of a period, a single record, or everything. Without --yes it first counts what
would be deleted and asks you.

Deleted records disappear at once from every list, search, export and grant, with their
history and files. pdpp deletions undo restores them for seven days. Then they are
removed for good and the database is rewritten, so that its files contain nothing of
them; --now does that at once. Earlier backups are not changed.

Runs do not collect deleted records again. To recognize them, PDPP stores a hash of the
key of a single record, and the bounds of a period.

To end a connection and keep its records, use pdpp revoke.`

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

// NewDeleteCommand returns the command pdpp delete.
func NewDeleteCommand(inv *command.Invocation) *cobra.Command {
	var f deleteFlags
	cmd := &cobra.Command{
		Use: "delete [CONNECTION]", Short: "Delete what was collected", Long: deleteHelp, Example: deleteExamples,
		Args: cobra.MaximumNArgs(1),
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			return deleteRecords(ctx, inv, o, args, f)
		}),
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

// request returns the deletion that the arguments describe.
func (f deleteFlags) request(ctx context.Context, o api.Owner, args []string) (r api.DeletionRequest, err error) {
	r = api.DeletionRequest{Scope: "connection", Stream: f.stream, Since: f.since, Until: f.until, Key: f.record,
		Now: f.now}
	if len(args) > 0 {
		conn, err := command.FindConnection(ctx, o, args[0], command.ChooseByID)
		if err != nil {
			return r, err
		}
		r.ConnectionID = conn.ID
	}
	ranged := f.since != "" || f.until != ""
	switch {
	case f.everything && (len(args) > 0 || f.stream != "" || ranged || f.record != ""):
		return r, failure.UsageError("everything is everything", "Leave out the rest, or --everything")
	case f.everything:
		r.Scope = "everything"
	case f.record != "" && ranged:
		return r, failure.UsageError("a record is named by its key or by its time, not both", "Leave out one of them")
	case f.record != "" && f.stream == "":
		return r, failure.UsageError("the key of a record is one of a stream", "Name it: --stream STREAM")
	case ranged:
		r.Scope = "range"
	case f.record != "":
		r.Scope = "record"
	case f.stream != "":
		r.Scope = "stream"
	}
	if r.ConnectionID == "" && r.Scope != "everything" && (r.Scope != "range" || f.stream != "") {
		return r, failure.UsageError("nothing is named that is to be deleted",
			"Write it like pdpp delete CONNECTION, or pdpp delete --everything")
	}
	return r, nil
}

func deleteRecords(ctx context.Context, inv *command.Invocation, o api.Owner, args []string, f deleteFlags) error {
	wanted, err := f.request(ctx, o, args)
	if err != nil {
		return err
	}
	if !f.yes {
		preview, err := o.PreviewDeletion(ctx, wanted)
		if err != nil {
			return err
		}
		if f.dry {
			printDeletion(inv, preview)
			return nil
		}
		if err := confirmDeletion(ctx, inv, preview); err != nil {
			return err
		}
	}
	d, err := o.Delete(ctx, wanted)
	if err == nil {
		d, err = waitForDeletion(ctx, inv, o, d)
	}
	if err != nil {
		return err
	}
	printDeletion(inv, d)
	return nil
}

// confirmDeletion prints what would be deleted and asks for confirmation.
func confirmDeletion(ctx context.Context, inv *command.Invocation, preview api.Deletion) error {
	message := strings.Join(append([]string{preview.What + ": " + preview.Happened, preview.Next}, preview.Notes...), "\n")
	fields := []api.QuestionField{{Name: "word", Label: "Type delete to go on", Required: true}}
	answers, err := inv.AskOwner(ctx, message, "(Ctrl-D to leave)", fields,
		"Say so with --yes, or look first with --dry-run.")
	if err != nil || answers["word"] != "delete" {
		if err == nil {
			err = failure.ErrUnchanged
		}
		return err
	}
	return nil
}

// deletionPollInterval is the pause between two requests for the state of a deletion.
const deletionPollInterval = 500 * time.Millisecond

// waitForDeletion waits until the server has finished the current step of a deletion.
func waitForDeletion(ctx context.Context, inv *command.Invocation, o api.Owner, d api.Deletion) (api.Deletion, error) {
	for d.Working() && d.Trouble == "" {
		select {
		case <-ctx.Done():
			return d, nil // it goes on without us
		case <-time.After(deletionPollInterval):
		}
		var err error
		if d, err = o.DeletionByID(ctx, d.ID); err != nil {
			return d, err
		}
	}
	return d, nil
}

func printDeletion(inv *command.Invocation, d api.Deletion) {
	if inv.JSON {
		output.WriteJSON(inv.Out, d)
		return
	}
	output.Printf(inv.Out, "%s: %s\n", output.SingleLine(d.What), output.SingleLine(d.Happened))
	if d.Trouble != "" {
		output.Printf(inv.Out, "Trouble: %s\n", output.SingleLine(d.Trouble))
	}
	if d.Next != "" {
		output.Printf(inv.Out, "%s\n", output.SingleLine(d.Next))
	}
	for _, note := range d.Notes {
		output.Printf(inv.Out, "%s\n", output.SingleLine(note))
	}
	if d.Undoable {
		output.Printf(inv.Out, "Undo: pdpp deletions undo %s\n", d.ID)
	}
}

const deletionsHelp = `Lists what you deleted, newest first. You can undo a deletion until it is removed for
good. Removed data is not collected again; pdpp deletions collect allows it.`

const deletionsExamples = `  pdpp deletions
  pdpp deletions show del_3k5x
  pdpp deletions undo del_3k5x
  pdpp deletions purge del_3k5x        remove it for good now
  pdpp deletions collect del_3k5x      let runs collect it again
  pdpp deletions ended                 connections that collect no more
  pdpp deletions held 2026-03-01       what a backup of then still holds`

// NewDeletionsCommand returns the command pdpp deletions.
func NewDeletionsCommand(inv *command.Invocation) *cobra.Command {
	cmd := &cobra.Command{
		Use: "deletions", Short: "List what you deleted, and undo it", Long: deletionsHelp, Example: deletionsExamples,
		Args: arguments.NoArguments,
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			all, err := o.Deletions(ctx)
			return inv.Show(err, map[string]any{"deletions": all}, func() { printDeletionList(inv, all) })
		}),
	}
	change := func(use, short string, do func(api.Owner, context.Context, string) (api.Deletion, error)) *cobra.Command {
		return &cobra.Command{
			Use: use + " DELETION", Short: short, Example: "  pdpp deletions " + use + " del_3k5x",
			Args: arguments.Required("the id of a deletion"),
			RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
				d, err := do(o, ctx, args[0])
				if err == nil && use != "show" {
					d, err = waitForDeletion(ctx, inv, o, d)
				}
				if err != nil {
					return err
				}
				printDeletion(inv, d)
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
		newDeletionsEndedCommand(inv), newDeletionsHeldCommand(inv))
	return cmd
}

func printDeletionList(inv *command.Invocation, all []api.Deletion) {
	if len(all) == 0 {
		output.Printf(inv.Out, "Nothing was deleted.\n")
		return
	}
	t := inv.NewTable("DELETED", "WHAT", "RECORDS", "STATE", "DELETION")
	for _, d := range all {
		t.Row(d.AskedAt.UTC().Format(time.DateOnly), text.Cut(output.SingleLine(d.What), 40), fmt.Sprint(d.Records), d.State,
			d.ID)
	}
	t.Flush()
}

func newDeletionsEndedCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "ended", Short: "List connections that ended", Example: "  pdpp deletions ended",
		Args: arguments.NoArguments,
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			all, err := o.EndedConnections(ctx)
			if err != nil {
				return err
			}
			return command.PrintList(inv, "connections", all, "No connection has ended.\n",
				[]string{"ENDED", "NAME", "RECORDS", "CONNECTION", "DELETED"},
				func(e api.EndedConnection) []string {
					deleted := "kept; delete with pdpp delete " + e.ConnectionID
					if e.Deletion != nil {
						deleted = e.Deletion.State + " (" + e.Deletion.ID + ")"
					}
					return []string{e.EndedAt.UTC().Format(time.DateOnly), text.Cut(output.SingleLine(e.DisplayName), 40),
						fmt.Sprint(e.Records),
						e.ConnectionID, deleted}
				})
		}),
	}
}

// CompleteDeletions returns the ids of deletions for shell completion.
func CompleteDeletions(ctx context.Context, o api.Owner) (out []cobra.Completion) {
	all, _ := o.Deletions(ctx)
	for _, d := range all {
		out = append(out, cobra.CompletionWithDesc(d.ID, d.What))
	}
	return out
}
