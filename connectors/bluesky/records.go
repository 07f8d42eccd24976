package bluesky

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

const (
	perRequest = 100 // the server's maximum
	// remembered is how many pages a bookmark holds. Pages grow with the walk, so that these are
	// some 200,000 records.
	remembered = 200
)

// repositoryEntry is one record of a repository as a list returns it.
type repositoryEntry struct {
	URI   string         `json:"uri"`
	CID   string         `json:"cid"`
	Value jsontext.Value `json:"value"`
}

// recordKey is the last part of the entry's address.
func (e repositoryEntry) recordKey() string { return e.URI[strings.LastIndexByte(e.URI, '/')+1:] }

// repositoryCollector returns the collector of one collection of the repository. The protocol announces neither edits
// nor deletions in lists, but every change creates a new revision of the repository. Pages that were read at the
// current revision are not requested again.
func (a *blueskyAccount) repositoryCollector(stream, collection string,
	read func(repositoryEntry) (any, error)) connectorkit.FullList {
	walks := 0
	var rev string   // never newer than what the walk reads
	var listed int64 // by this walk
	fresh := true    // no page of it was as it had been
	return connectorkit.FullList{Stream: stream, Remembered: remembered, NewestFirst: true,
		Page: func(ctx context.Context, v connectorkit.PageRequest) (connectorkit.InventoryPage, error) {
			if v.Token == "" {
				listed, fresh = 0, true
				var err error
				// The first walk may use the revision that the run knows. A second walk confirms deletions, so it requests the
				// revision again.
				if rev = a.rev; rev == "" || walks > 0 {
					if rev, err = a.latestRevision(ctx); err != nil {
						return connectorkit.InventoryPage{}, err
					}
					if a.rev == "" {
						a.rev = rev
					}
				}
				walks++
			}
			page := connectorkit.InventoryPage{View: a.did, Version: rev}
			if v.Version == rev {
				page.Unchanged, fresh = true, false
				return page, nil
			}
			if err := a.fetchRecordPage(ctx, collection, v.Token, read, &page); err != nil {
				return connectorkit.InventoryPage{}, err
			}
			if listed += int64(len(page.Things)); fresh && page.Next == "" {
				a.compareCount(ctx, stream, listed)
			}
			return page, nil
		}}
}

// fetchRecordPage reads one page: the further from the beginning, the more requests it takes, because the
// bookmark grows with each page and is written after it.
func (a *blueskyAccount) fetchRecordPage(ctx context.Context, collection, token string,
	read func(repositoryEntry) (any, error),
	page *connectorkit.InventoryPage) error {
	number, cursor, _ := strings.Cut(token, " ")
	at, _ := strconv.Atoi(number) // none on the first page
	for range 1 + at/10 {
		query := url.Values{"collection": {collection}, "limit": {strconv.Itoa(perRequest)}}
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		var answer struct {
			Records *[]repositoryEntry `json:"records"`
			Cursor  string             `json:"cursor"`
		}
		if err := a.getJSON(ctx, "com.atproto.repo.listRecords", query, &answer); err != nil {
			return err
		}
		if answer.Records == nil {
			return connectorkit.Fail(connectorkit.Malformed, errUnexpectedShape)
		}
		for _, e := range *answer.Records {
			page.Things = append(page.Things, listItemOf(e, read))
		}
		if answer.Cursor == "" || answer.Cursor == cursor || len(*answer.Records) == 0 {
			return nil
		}
		cursor = answer.Cursor
	}
	page.Next = strconv.Itoa(at+1) + " " + cursor
	return nil
}

// listItemOf makes a record of an entry. What other programs wrote in another form than the protocol's
// is declared; it keeps its place in the inventory, so that it hides no deletion.
func listItemOf(e repositoryEntry, read func(repositoryEntry) (any, error)) connectorkit.ListItem {
	key := e.recordKey()
	data, err := read(e)
	if err != nil || key == "" || e.CID == "" {
		return connectorkit.ListItem{Key: key, Record: connectorkit.Unreadable(key, err)}
	}
	return connectorkit.ListItem{Key: key, Record: connectorkit.Upsert(data)}
}
