package doctor

import (
	"context"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// checkUpkeep looks how far what is made of stored records is: counts, search and indexes.
func (x *checkup) checkUpkeep(ctx context.Context) {
	u, err := x.store.Upkeep(ctx, store.IndexAbove)
	if err != nil {
		x.reportUnreadable(CheckUpkeep, err)
		return
	}
	notes := u.Notes()
	for _, n := range notes {
		x.reportWarning(CheckUpkeep, n.Text, n.Next)
	}
	if len(notes) == 0 {
		x.reportGood(CheckUpkeep, "all records are counted and searchable, and "+formatCount(len(u.Indexes), "index is",
			"indexes are")+" ready")
	}
}
