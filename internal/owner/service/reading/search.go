package reading

import (
	"context"
	"fmt"
	"strings"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/share/embedding"
	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

const (
	longestWords = 400
	// searchCursor is the kind of a cursor through what a search found.
	searchCursor = "owner_search"
)

// Search returns the records that contain all the words in their indexed text, the newest first, or those that are most
// alike in meaning.
func (c *Collection) Search(ctx context.Context, q api.SearchQuery) (api.RecordPage, error) {
	words := strings.TrimSpace(q.Text)
	if words == "" || len(words) > longestWords {
		return api.RecordPage{}, api.Invalid("q", fmt.Sprintf("A search has from 1 to %d characters.", longestWords),
			"Enter a few words.")
	}
	in, err := c.searchedStreams(ctx, q)
	if err != nil {
		return api.RecordPage{}, err
	}
	if q.By == embedding.ByMeaning || q.By == embedding.ByBoth {
		if c.Meaning == nil {
			return api.RecordPage{}, embedding.ErrOff
		}
		found, err := c.Meaning.Search(ctx, embedding.MeaningQuery{Text: words, By: q.By, Words: in, Meaning: in,
			Limit: clampPageSize(q.Limit)})
		return recordPage(found, len(found), nil), faults.OwnerError(err, "search by meaning")
	}
	box, err := c.pageCursors(ctx)
	if err != nil {
		return api.RecordPage{}, err
	}
	ask := store.SearchQuery{In: in, Text: words, Limit: clampPageSize(q.Limit) + 1}
	bound := grants.Context(words, q.ConnectionID, q.Stream)
	if q.Cursor != "" {
		if err := box.Open(searchCursor, bound, q.Cursor, &ask.BeforeID); err != nil {
			return api.RecordPage{}, faults.OwnerError(err, "open the cursor")
		}
	}
	if in != nil && len(in) == 0 {
		return recordPage(nil, 0, nil), nil
	}
	found, err := c.store.Search(ctx, ask)
	if err != nil {
		return api.RecordPage{}, faults.OwnerError(err, "search")
	}
	return recordPage(found, ask.Limit-1,
		func(last store.StoredRecord) string { return box.Seal(searchCursor, bound, last.ID) }), nil
}

// searchedStreams is where to search; nil means everywhere.
func (c *Collection) searchedStreams(ctx context.Context, q api.SearchQuery) ([]store.AccessFilter, error) {
	if q.ConnectionID != "" {
		if _, err := c.find.Connection(ctx, q.ConnectionID); err != nil {
			return nil, err
		}
		return []store.AccessFilter{{ConnectionID: q.ConnectionID, Stream: q.Stream}}, nil
	}
	if q.Stream == "" {
		return nil, nil
	}
	all, err := c.store.Streams(ctx, "")
	if err != nil {
		return nil, faults.OwnerError(err, "list the streams")
	}
	in := []store.AccessFilter{}
	for _, info := range all {
		if info.Name == q.Stream {
			in = append(in, store.AccessFilter{ConnectionID: info.ConnectionID, Stream: info.Name})
		}
	}
	return in, nil
}
