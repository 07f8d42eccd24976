package googleapi

import (
	"context"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// Lists are what a stream is made of: lists each of which gives everything, page by page, and with the last page a
// token for which it later gives what changed. Google ends tokens when it likes. Then all of a list is read, and
// what is remembered of it and was not met is deleted.
type Lists struct {
	// Names are the lists that there are now, and whose they are. An account that is not known is empty.
	Names func(ctx context.Context) (names []string, account string, err error)
	// Page reads one page.
	Page func(ctx context.Context, a Ask) (Answer, error)
	// Gone tells of a list that is no longer among the names whether it is no longer there; nil never says so.
	Gone func(ctx context.Context, name string) (bool, error)
	// Key is the record's key of a thing of a list.
	Key func(list, id string) string
}

// Ask is one request.
type Ask struct {
	List  string
	Since string // token of the last time; empty asks for everything
	Page  string // token of the page; empty for the first
}

// Answer is one page.
type Answer struct {
	Things []Thing
	Next   string // token of the next page; empty on the last
	Since  string // on the last page: what a later walk asks with
	Total  int    // Google's own count of the whole list; zero when there is none
}

// Thing is one member of a list.
type Thing struct {
	ID      string // empty when it cannot be read: Record declares it
	Record  connectorkit.Record
	Deleted bool // Record does not count
	// Part is the id of the thing that this one is a part of, such as the series of a changed occurrence. Parts go
	// with it.
	Part string
	// Void says that it is there only to say what its whole lacks, such as an occurrence that does not take place.
	Void bool
}

// Flat is the stream.
func (l Lists) Flat(stream string) connectorkit.PagedStream {
	return connectorkit.PagedStream{Stream: stream, Page: (&walk{Lists: l}).page}
}
