package doctor

import (
	"context"

	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// upkeep looks how far what is made of stored records is: counts, search and indexes.
func (x *examination) upkeep(ctx context.Context) {
	u, err := x.store.Upkeep(ctx, store.IndexAbove)
	if err != nil {
		x.unread(CheckUpkeep, err)
		return
	}
	notes := u.Notes()
	for _, n := range notes {
		x.warn(CheckUpkeep, n.Text, n.Next)
	}
	if len(notes) == 0 {
		x.ok(CheckUpkeep, "all records are counted and searchable, and "+count(len(u.Indexes), "index is", "indexes are")+" ready")
	}
}
