package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"pdpp/internal/store"
)

func (a *app) recordCommand() *cobra.Command {
	var history bool
	cmd := &cobra.Command{
		Use: "record STREAM KEY", Short: "Show one record", Args: needArgs("the name of a stream", "the key of a record"),
		RunE: a.withStore(func(ctx context.Context, st store.Store, args []string) error {
			conn, err := a.resolveConnection(ctx, st)
			if err != nil {
				return err
			}
			if _, err := findStream(ctx, st, conn.ID, args[0]); err != nil {
				return err
			}
			r, err := st.Record(ctx, conn.ID, args[0], args[1])
			if errors.Is(err, store.ErrNotFound) {
				return notFound(fmt.Sprintf("stream %s has no record %q", args[0], args[1]), "List the keys: pdpp records "+args[0])
			}
			if err != nil {
				return err
			}
			versions := []store.StoredRecord{r}
			if history {
				older, err := st.History(ctx, conn.ID, args[0], args[1], maxLimit)
				if err != nil {
					return err
				}
				versions = append(versions, older...)
			}
			a.printRecord(versions, history)
			return nil
		}),
	}
	a.connectionFlag(cmd, "which connection")
	cmd.Flags().BoolVar(&history, "history", false, "show earlier versions too")
	return cmd
}

// printRecord shows the versions of a record, the current one first.
func (a *app) printRecord(versions []store.StoredRecord, history bool) {
	if a.json {
		out := map[string]any{"record": versions[0]}
		if history {
			out["history"] = versions[1:]
		}
		writeJSON(a.out, out)
		return
	}
	for i, r := range versions {
		if i > 0 {
			printf(a.out, "\n")
		}
		printf(a.out, "%s %s, version %d, change %d, %s, run %s\n", r.Stream, oneLine(r.Key), r.Version, r.Seq, when(r.ChangedAt), orDash(r.RunID))
		if r.Deleted {
			printf(a.out, "(deleted)\n")
			continue
		}
		printf(a.out, "%s\n", indented(r.Data))
	}
}
