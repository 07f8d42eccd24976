package admin

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/records"
)

// changedPage is what happened lately to the records of a stream.
type changedPage struct {
	connectionPart
	Streams []api.Stream
	Chosen  *api.Stream // nil when the connection has no stream
	Rows    []changedRow
	Before  int64  // the changes before this number; zero means the newest
	Older   string // address of the next page
}

// changedRow is a record at its newest change.
type changedRow struct {
	api.Record
	Title, Address, Event string
}

const (
	// changesShown is how many changes fill a page.
	changesShown = 50
	// changesRead is the most sequence numbers that one query covers. changeQuestions is the most
	// queries per page. Sequence numbers of records that changed again later match nothing.
	changesRead     = 1000
	changeQuestions = 10
)

func (p *adminPages) changed(w http.ResponseWriter, r *http.Request) {
	c, ok := p.part(w, r)
	if !ok {
		return
	}
	page := &changedPage{connectionPart: c}
	all, err := p.Owner.Streams(r.Context(), c.ID)
	if err != nil {
		p.ShowFailure(w, r, "sources", err)
		return
	}
	page.Streams = records.SortStreams(all)
	if page.Chosen = choose(page.Streams, r.URL.Query().Get("stream")); page.Chosen == nil &&
		r.URL.Query().Get("stream") != "" {
		p.ShowFailure(w, r, "sources", api.NotFound("The connection has no such stream.", "Choose one of its streams."))
		return
	}
	if page.Chosen != nil {
		page.Before, _ = strconv.ParseInt(r.URL.Query().Get("before"), 10, 64) // nonsense means the newest
		newest := page.Chosen.LastSeq
		if page.Before > 0 {
			newest = min(newest, page.Before-1)
		}
		found, rest, err := p.changesUpTo(r.Context(), page.Chosen, newest)
		if err != nil {
			p.ShowFailure(w, r, "sources", err)
			return
		}
		for _, record := range found {
			page.Rows = append(page.Rows, page.row(record))
		}
		if rest > 0 {
			page.Older = page.of(page.Chosen.Name, rest+1)
		}
	}
	p.ShowPage(w, r, http.StatusOK, p.PageFrame(w, r, "What changed, "+c.Name, "sources"), changedBody(page, p.Now()))
}

// choose finds the stream of a name; without one, that which changed last.
func choose(all []api.Stream, name string) *api.Stream {
	var chosen *api.Stream
	for i := range all {
		s := &all[i]
		switch {
		case name != "" && s.Name == name:
			return s
		case name == "" && (chosen == nil || s.UpdatedAt != nil &&
			(chosen.UpdatedAt == nil || s.UpdatedAt.After(*chosen.UpdatedAt))):
			chosen = s
		}
	}
	return chosen
}

// changesUpTo returns a page of changes, newest first, starting at sequence number newest. rest is
// the number from which the next page continues.
func (p *adminPages) changesUpTo(ctx context.Context, s *api.Stream, newest int64) (found []api.Record, rest int64,
	err error) {
	width := int64(changesShown)
	for range changeQuestions {
		if newest <= 0 || len(found) >= changesShown {
			break
		}
		after := max(0, newest-width)
		some, err := p.Owner.Changes(ctx, api.ChangeQuery{ConnectionID: s.ConnectionID, Stream: s.Name, After: after,
			Limit: int(newest - after)})
		if err != nil {
			return nil, 0, err
		}
		for _, r := range slices.Backward(some) {
			if r.Seq <= newest { // one that changed meanwhile is of a newer page
				found = append(found, r)
			}
		}
		newest, width = after, min(2*width, changesRead)
	}
	if len(found) > changesShown {
		found = found[:changesShown]
		newest = found[changesShown-1].Seq - 1
	}
	return found, newest, nil
}

func (page *changedPage) row(r api.Record) changedRow {
	out := changedRow{Record: r, Address: records.RecordAddress(r)}
	out.Title, _ = records.Summarize(r, page.Chosen, nil)
	switch {
	case r.Deleted:
		out.Event = "Removed at the source"
	case r.Version > 1:
		out.Event = "Changed"
	default:
		out.Event = "New"
	}
	return out
}

// of is the address of a stream's changes before a number.
func (page *changedPage) of(stream string, before int64) string {
	q := url.Values{"stream": {stream}}
	if before > 0 {
		q.Set("before", strconv.FormatInt(before, 10))
	}
	return page.changes(q)
}
