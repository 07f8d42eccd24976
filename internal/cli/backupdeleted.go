package cli

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/keep/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/ops/text"
)

// deletedIn names the deletions of a home that a backup lists as held. A home that cannot be read names none:
// the backup itself has been written, or read.
func (a *app) deletedIn(ctx context.Context, home string, holds func(store.Deletion) bool) (named string,
	records int64) {
	st, err := sqlite.Open(ctx, filepath.Join(home, databaseFile), sqlite.Options{BusyTimeout: a.env.BusyTimeout})
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
		names = append(names, d.AskedAt.UTC().Format(time.DateOnly)+" "+strings.Join(strings.Fields(string(d.Kind)+" "+d.ConnectionID+" "+d.Stream), " "))
	}
	return strings.Join(names, ", "), records
}

// tellHidden prints what a new backup holds although the owner deleted it.
func (a *app) tellHidden(ctx context.Context, home string) {
	hidden := func(d store.Deletion) bool { return d.State == store.DeletionHiding || d.State == store.DeletionHidden }
	if named, records := a.deletedIn(ctx, home, hidden); named != "" {
		printf(a.out, "It also holds %s that you deleted and can still undo: %s. To leave them out: pdpp deletions purge, then back up again.\n",
			text.Count(records, "record", "records"), named)
	}
}

// tellReturned prints what a restored backup brings back although the owner deleted it since.
func (a *app) tellReturned(ctx context.Context, aside string, made time.Time) {
	printf(a.out, "What you deleted after %s is here again: delete it once more where that is not wanted.\n", when(made))
	if aside == "" {
		return
	}
	since := func(d store.Deletion) bool {
		return d.AskedAt.After(made) && d.State != store.DeletionUndone && d.State != store.DeletionUndoing
	}
	if named, records := a.deletedIn(ctx, aside, since); named != "" {
		printf(a.out, "In the old home these were deleted since, %s: %s.\n", text.Count(records, "record", "records"), named)
	}
}
