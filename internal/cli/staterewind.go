package cli

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const rewindText = `Makes an earlier value of a stream's bookmark current again, so that the next run
fetches again what came after it. Nothing is deleted; records that are fetched
again and have not changed stay as they are. The rewind is itself a commit: go
back to the number it prints to undo it.`

func (a *app) stateRewindCommand() *cobra.Command {
	var b bookmark
	var yes bool
	cmd := &cobra.Command{
		Use: "rewind STREAM COMMIT", Short: "Go back to an earlier bookmark", Long: rewindText,
		Args:    needArgs("the name of a stream", "the commit to go back to"),
		PreRunE: b.check,
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			id, log, err := a.log(ctx, o, b, args[0], maxLimit)
			if err != nil {
				return err
			}
			to, err := findCommit(log, id, args[1])
			if err != nil {
				return err
			}
			return a.rewind(ctx, o, api.Rewind{ConnectionID: id.ConnectionID, Stream: id.Stream, Mode: id.Mode, Commit: to.Commit}, yes)
		}),
	}
	a.connectionFlag(cmd, "which connection")
	b.flag(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask for confirmation")
	return cmd
}

func (a *app) rewind(ctx context.Context, o api.Owner, id api.Rewind, yes bool) error {
	preview, err := o.PreviewRewind(ctx, id)
	if err != nil {
		return err
	}
	if !a.json {
		a.printPreview(id, preview)
	}
	if !yes {
		if err := a.confirm(ctx, "a rewind", "Go back?"); err != nil {
			return err
		}
	}
	made, err := o.Rewind(ctx, id)
	if err != nil {
		return err
	}
	undo := fmt.Sprintf("pdpp state rewind %s %d --connection %s", id.Stream, preview.From.Commit, id.ConnectionID)
	if id.Mode != "" {
		undo += " --mode " + id.Mode
	}
	if a.json {
		writeJSON(a.out, map[string]any{"preview": preview, "commit": made, "undo": undo})
		return nil
	}
	if preview.Device {
		printf(a.out, "Done: commit %d is current. The next run of your device fetches from there.\n", made.Commit)
	} else {
		printf(a.out, "Done: commit %d is current. The next run fetches from there: pdpp run %s\n", made.Commit,
			id.ConnectionID)
	}
	printf(a.out, "Undo: %s\n", undo)
	return nil
}

func (a *app) printPreview(id api.Rewind, p api.RewindPreview) {
	printf(a.out, "Bookmark of %s (%s):\n", id.Stream, modeName(id.Mode))
	printf(a.out, "  now     commit %d, %s  %s\n", p.From.Commit, when(p.From.At), text.Cut(string(p.From.Cursor), 32))
	printf(a.out, "  back to commit %d, %s  %s\n", p.To.Commit, when(p.To.At), text.Cut(string(p.To.Cursor), 32))
	printf(a.out, "The next run would fetch again about %s that changed since, over %s.\n",
		text.Count(p.RecordsChanged, "record", "records"), text.Count(p.CommitsUndone, "commit", "commits"))
	printf(a.out, "Nothing is deleted.\n")
	if p.Device {
		printf(a.out, "What a device reads is not compared with the stored records: those that are gone there stay.\n")
	}
}

// confirm asks on a terminal, and insists on --yes anywhere else.
func (a *app) confirm(ctx context.Context, what, question string) error {
	if _, ok := terminal(a.env.Stdin); !ok || a.json {
		return &Error{Code: "confirmation_required", Exit: ExitUsage, Message: what + " needs your confirmation", Next: "Look at the preview, then repeat the command with --yes."}
	}
	printf(a.errOut, "%s [y/N] ", question)
	answered := make(chan string, 1)
	go func() { // a read of the terminal cannot be given up: it ends with the program
		line, _ := bufio.NewReader(a.env.Stdin).ReadString('\n') // no answer is a no
		answered <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-ctx.Done():
		printf(a.errOut, "\n")
	case answer := <-answered:
		if answer == "y" || answer == "yes" {
			return nil
		}
	}
	return &Error{Code: "cancelled", Exit: ExitCancelled, Message: "nothing was changed", Next: "Repeat the command and answer y to go on."}
}
