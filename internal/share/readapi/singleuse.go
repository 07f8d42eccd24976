package readapi

import (
	"fmt"
	"net/http"

	"github.com/pdpp-go/pdpp/internal/share/grants"
)

// single settles a page of a grant that may read each stream through once. The first
// page begins the reading and fixes where it ends, so that what changes later is not
// part of it; each further page needs the cursor of the one before, which is good for one
// page. A reading of nothing ends at zero.
func (a *api) single(r *http.Request, q query, views []grants.StreamView, from *position) error {
	if len(views) != 1 {
		return invalidRequest("connection_id", "Several connections have this stream, and each can be read once.",
			"Name one with connection_id.")
	}
	if q.cursor != "" {
		if from.UpTo <= 0 {
			return grants.Refused(grants.CodeInvalidCursor, "cursor", "The cursor does not belong to this list.",
				"Begin again without a cursor.")
		}
		return nil
	}
	streams, err := a.Store.Streams(r.Context(), views[0].ConnectionID())
	if err != nil {
		return fmt.Errorf("list streams: %w", err)
	}
	for _, s := range streams {
		if s.Name == views[0].Name() {
			from.UpTo = s.LastSeq
		}
	}
	return nil
}

// onceOnly refuses a grant that may only read streams through.
func onceOnly(who grants.Access) error {
	if !who.SingleUse() {
		return nil
	}
	return grants.Refused(grants.CodeInsufficientScope, "",
		"The grant allows to read each stream through once, and nothing else.",
		"Use GET /v1/streams/{stream}/records without changes_since.")
}
