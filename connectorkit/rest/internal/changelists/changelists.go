// Package changelists reads lists that return everything, page by page, and with the last page a token for later
// changes: see rest.ChangeTokens.
package changelists

import (
	"context"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// ChangeLists are the lists of a stream.
type ChangeLists struct {
	// Names returns the present lists and the account that owns them. An account that is not known is empty.
	Names func(ctx context.Context) (names []string, account string, err error)
	// Page reads one page.
	Page func(ctx context.Context, a ChangeRequest) (ChangePage, error)
	// Gone reports whether a list that is no longer among the names was deleted; nil means never.
	Gone func(ctx context.Context, name string) (bool, error)
	// Key is the record's key of an item of a list.
	Key func(list, id string) string
}

// ChangeRequest is one request for a page of a list.
type ChangeRequest struct {
	List  string
	Since string // token of the last time; empty asks for everything
	Page  string // token of the page; empty for the first
}

// ChangePage is one page of a list.
type ChangePage struct {
	Things []ChangeItem
	Next   string // token of the next page; empty on the last
	Since  string // on the last page: what a later walk asks with
	Total  int    // the provider's own count of the whole list; zero when there is none
}

// ChangeItem is one member of a list.
type ChangeItem struct {
	ID      string // empty when it cannot be read: Record declares it
	Record  connectorkit.Record
	Deleted bool // Record does not count
	// Part is the id of the item that this one is a part of, such as the series of a changed occurrence. Parts are
	// deleted with it.
	Part string
	// Void marks an item that only describes what its whole lacks, such as an occurrence that does not take place.
	Void bool
}

// PagedStream returns the collector of the stream.
func (l ChangeLists) PagedStream(stream string) connectorkit.PagedStream {
	return connectorkit.PagedStream{Stream: stream, Page: (&listsWalk{ChangeLists: l}).readPage}
}
