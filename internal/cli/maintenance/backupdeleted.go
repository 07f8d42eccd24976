package maintenance

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
)

// deletionsHeldIn returns the deletions of a home that match, and how many records they have. It returns none if the
// home cannot be read, because the backup itself succeeded.
func deletionsHeldIn(ctx context.Context, inv *command.Invocation, home string,
	holds func(store.Deletion) bool) (named string,
	records int64) {
	st, err := sqlite.Open(ctx, filepath.Join(home, command.DatabaseFile),
		sqlite.Options{BusyTimeout: inv.Env.BusyTimeout})
	if err != nil {
		return "", 0
	}
	defer st.Close()
	all, err := st.Deletions(ctx, "")
	if err != nil {
		return "", 0
	}
	var names []string
	for _, d := range all {
		if !holds(d) {
			continue
		}
		records += d.Records
		names = append(names, d.AskedAt.UTC().Format(time.DateOnly)+" "+
			strings.Join(strings.Fields(string(d.Kind)+" "+d.ConnectionID+" "+d.Stream), " "))
	}
	return strings.Join(names, ", "), records
}

// printHiddenDeletions prints which deleted records a new backup still contains.
func printHiddenDeletions(ctx context.Context, inv *command.Invocation, home string) {
	hidden := func(d store.Deletion) bool { return d.State == store.DeletionHiding || d.State == store.DeletionHidden }
	if named, records := deletionsHeldIn(ctx, inv, home, hidden); named != "" {
		output.Printf(inv.Out, "It also holds %s that you deleted and can still undo: %s. To leave them out: pdpp "+
			"deletions purge, then back up again.\n",
			text.Count(records, "record", "records"), named)
	}
}

// printReturnedRecords prints which deleted records a restored backup contains again.
func printReturnedRecords(ctx context.Context, inv *command.Invocation, aside string, made time.Time) {
	output.Printf(inv.Out, "What you deleted after %s is here again: delete it once more where that is not wanted.\n",
		output.FormatTime(made))
	if aside == "" {
		return
	}
	since := func(d store.Deletion) bool {
		return d.AskedAt.After(made) && d.State != store.DeletionUndone && d.State != store.DeletionUndoing
	}
	if named, records := deletionsHeldIn(ctx, inv, aside, since); named != "" {
		output.Printf(inv.Out, "In the old home these were deleted since, %s: %s.\n",
			text.Count(records, "record", "records"), named)
	}
}
