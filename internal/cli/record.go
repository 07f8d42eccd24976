package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

func (a *app) recordCommand() *cobra.Command {
	var history bool
	cmd := &cobra.Command{
		Use: "record STREAM KEY", Short: "Show one record", Args: needArgs("the name of a stream", "the key of a record"),
		Example: "  pdpp record issues 42\n  pdpp record issues 42 --history",
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			conn, err := pickOwned(ctx, o, a.connection, byFlag)
			if err != nil {
				return err
			}
			if _, err := ownedStream(ctx, o, conn.ID, args[0]); err != nil {
				return err
			}
			r, older, err := o.Record(ctx, conn.ID, args[0], args[1])
			var e *api.Error
			if errors.As(err, &e) && e.Code == api.CodeNotFound {
				return notFound(fmt.Sprintf("stream %s has no record %q", args[0], args[1]), "List the keys: pdpp records "+args[0])
			}
			if err != nil {
				return err
			}
			a.printRecord(r, older, history)
			return nil
		}),
	}
	a.connectionFlag(cmd, "which connection")
	cmd.Flags().BoolVar(&history, "history", false, "show earlier versions too")
	return cmd
}

// printRecord shows the versions of a record, the current one first.
func (a *app) printRecord(r api.Record, older []api.Record, history bool) {
	if !history {
		older = nil
	}
	if a.json {
		out := map[string]any{"record": r}
		if history {
			out["history"] = older
		}
		writeJSON(a.out, out)
		return
	}
	for i, v := range append([]api.Record{r}, older...) {
		if i > 0 {
			printf(a.out, "\n")
		}
		printf(a.out, "%s %s, version %d, %s\n", v.Stream, oneLine(v.Key), v.Version, when(v.ChangedAt))
		if v.Deleted {
			printf(a.out, "(deleted)\n")
			continue
		}
		printf(a.out, "%s\n", indented(jsontext.Value(v.Data)))
	}
	if len(r.Files) > 0 {
		printf(a.out, "\nFiles (pdpp file SHA256 -o NAME writes one):\n")
	}
	for _, f := range r.Files {
		printf(a.out, "  %s  %s, %s, %s\n", f.SHA256, oneLine(cmp.Or(f.Name, "(no name)")), text.Bytes(f.Bytes), oneLine(f.MIME))
	}
}
