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
	perRequest = 100 // the most that a server gives
	// remembered is how many pages a bookmark holds. Pages grow with the walk, so that these are
	// some 200,000 records.
	remembered = 200
)

// entry is one record of a repository as a list gives it.
type entry struct {
	URI   string         `json:"uri"`
	CID   string         `json:"cid"`
	Value jsontext.Value `json:"value"`
}

// key is the last part of the entry's address.
func (e entry) key() string { return e.URI[strings.LastIndexByte(e.URI, '/')+1:] }

// records is a collection of the repository. The protocol announces neither an edit nor a deletion
// to somebody who asks for lists, but every change makes a new revision of the whole repository:
// pages that were read at the revision of now are not asked for.
func (a *account) records(stream, collection string, read func(entry) (any, error)) connectorkit.FullList {
	walks := 0
	var rev string   // never newer than what the walk reads
	var listed int64 // by this walk
	fresh := true    // no page of it was as it had been
	return connectorkit.FullList{Stream: stream, Remembered: remembered,
		Page: func(ctx context.Context, v connectorkit.PageRequest) (connectorkit.InventoryPage, error) {
			if v.Token == "" {
				listed, fresh = 0, true
				var err error
				// The first walk may begin with what the run knows. A second one confirms what is gone, so
				// that it asks whether anything has changed since.
				if rev = a.rev; rev == "" || walks > 0 {
					if rev, err = a.revision(ctx); err != nil {
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
			if err := a.walk(ctx, collection, v.Token, read, &page); err != nil {
				return connectorkit.InventoryPage{}, err
			}
			if listed += int64(len(page.Things)); fresh && page.Next == "" {
				a.compare(ctx, stream, listed)
			}
			return page, nil
		}}
}

// walk reads one page: the further from the beginning, the more requests it takes, because the
// bookmark grows with each page and is written after it.
func (a *account) walk(ctx context.Context, collection, token string, read func(entry) (any, error), page *connectorkit.InventoryPage) error {
	number, cursor, _ := strings.Cut(token, " ")
	at, _ := strconv.Atoi(number) // none on the first page
	for range 1 + at/10 {
		query := url.Values{"collection": {collection}, "limit": {strconv.Itoa(perRequest)}}
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		var answer struct {
			Records *[]entry `json:"records"`
			Cursor  string   `json:"cursor"`
		}
		if err := a.get(ctx, "com.atproto.repo.listRecords", query, &answer); err != nil {
			return err
		}
		if answer.Records == nil {
			return connectorkit.Fail(connectorkit.Malformed, errForm)
		}
		for _, e := range *answer.Records {
			page.Things = append(page.Things, thing(e, read))
		}
		if answer.Cursor == "" || answer.Cursor == cursor || len(*answer.Records) == 0 {
			return nil
		}
		cursor = answer.Cursor
	}
	page.Next = strconv.Itoa(at+1) + " " + cursor
	return nil
}

// thing makes a record of an entry. What other programs wrote in another form than the protocol's
// is declared; it keeps its place in the inventory, so that it hides no deletion.
func thing(e entry, read func(entry) (any, error)) connectorkit.ListItem {
	key := e.key()
	data, err := read(e)
	if err != nil || key == "" || e.CID == "" {
		return connectorkit.ListItem{Key: key, Record: connectorkit.Unreadable(key, err)}
	}
	return connectorkit.ListItem{Key: key, Record: connectorkit.Upsert(data)}
}
