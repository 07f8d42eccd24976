package records

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// NewRecordCommand returns the command pdpp record.
func NewRecordCommand(inv *command.Invocation) *cobra.Command {
	var history bool
	cmd := &cobra.Command{
		Use: "record STREAM KEY", Short: "Show one record", Args: arguments.Required("the name of a stream",
			"the key of a record"),
		Example: "  pdpp record issues 42\n  pdpp record issues 42 --history",
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			s, err := inv.ChooseStream(ctx, o, args[0])
			if err != nil {
				return err
			}
			r, older, err := o.Record(ctx, s.ConnectionID, args[0], args[1])
			var e *api.Error
			if errors.As(err, &e) && e.Code == api.CodeNotFound {
				return failure.UnknownName(
					fmt.Sprintf("stream %s has no record %q", args[0], args[1]),
					"List the keys: pdpp records "+
						args[0],
				)
			}
			if err != nil {
				return err
			}
			printRecord(inv, r, older, history)
			return nil
		}),
	}
	inv.ConnectionFlag(cmd, "which connection")
	cmd.Flags().BoolVar(&history, "history", false, "show earlier versions too")
	return cmd
}

// printRecord prints the versions of a record, the current one first.
func printRecord(inv *command.Invocation, r api.Record, older []api.Record, history bool) {
	if !history {
		older = nil
	}
	if inv.JSON {
		out := map[string]any{"record": r}
		if history {
			out["history"] = older
		}
		output.WriteJSON(inv.Out, out)
		return
	}
	for i, v := range append([]api.Record{r}, older...) {
		if i > 0 {
			output.Printf(inv.Out, "\n")
		}
		output.Printf(inv.Out, "%s %s, version %d, %s\n", v.Stream, output.SingleLine(v.Key), v.Version,
			output.FormatTime(v.ChangedAt))
		if v.Deleted {
			output.Printf(inv.Out, "(deleted)\n")
			continue
		}
		output.Printf(inv.Out, "%s\n", output.IndentJSON(jsontext.Value(v.Data)))
	}
	if len(r.Files) > 0 {
		output.Printf(inv.Out, "\nFiles (pdpp file SHA256 -o NAME writes one):\n")
	}
	for _, f := range r.Files {
		output.Printf(inv.Out, "  %s  %s, %s, %s\n", f.SHA256, output.SingleLine(cmp.Or(f.Name, "(no name)")),
			text.Bytes(f.Bytes), output.SingleLine(f.MIME))
	}
}
