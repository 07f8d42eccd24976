package reading

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/export"
	"github.com/pdpp-go/pdpp/internal/owner/service/declaration"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// exportPage and exportBytes bound the records that are held at once. They are read right before they are written, so
// that a reader who is slow gets none that were deleted meanwhile, but for one page.
const (
	exportPage  = 500
	exportBytes = 1 << 17
)

// Export writes the live records of a stream, or of every stream of the connection. A
// record that changes meanwhile may come again, further down and newer; one that is deleted
// meanwhile is left out. Nothing is
// written before it is known that there is something to export.
func (c *Collection) Export(ctx context.Context, w io.Writer, q api.ExportQuery) error {
	format, _ := export.FindFormat(q.Format)
	if format.Name != "jsonl" && format.Name != "csv" {
		return api.Invalid("format", "Records are exported as jsonl or csv.", "Choose one of the two.")
	}
	if len(q.Text) > longestWords {
		return api.Invalid("q", fmt.Sprintf("A search has at most %d characters.", longestWords), "Enter a few words.")
	}
	conn, err := c.find.Connection(ctx, q.ConnectionID)
	if err != nil {
		return err
	}
	names := []string{q.Stream}
	if q.Stream == "" {
		found, err := c.store.Streams(ctx, conn.ID)
		if err != nil {
			return faults.OwnerError(err, "list the streams")
		}
		names = names[:0]
		for _, info := range found {
			names = append(names, info.Name)
		}
	}
	var streams []api.Stream
	var pages []exportPages
	for _, name := range names {
		declared, err := c.declaredStream(ctx, conn.ID, name)
		if err != nil {
			return err
		}
		s := api.Stream{ConnectionID: conn.ID, Name: name}
		if declared != nil {
			s.Fields, s.FieldKinds = declaration.Fields(jsontext.Value(declared.Schema))
		}
		next, err := c.exportPages(&s, declared, q)
		if err != nil {
			return err
		}
		streams, pages = append(streams, s), append(pages, next)
	}
	buffered := bufio.NewWriterSize(w, 1<<16)
	out, err := format.Open(buffered, streams)
	if err != nil {
		return faults.OwnerError(err, "write the export")
	}
	for i := range streams {
		if err := c.exportStream(ctx, out, buffered.Flush, &streams[i], pages[i]); err != nil {
			return err
		}
	}
	if err := out.Close(); err != nil {
		return faults.OwnerError(err, "write the export")
	}
	return faults.OwnerError(buffered.Flush(), "write the export")
}

func (c *Collection) exportStream(ctx context.Context, out export.Writer, flush func() error, s *api.Stream,
	next exportPages) error {
	for {
		found, err := next(ctx)
		if err != nil {
			return faults.OwnerError(err, "read the records")
		}
		for i := range found {
			if err := out.Write(s, &export.Record{Record: showRecord(&found[i])}); err != nil {
				return faults.OwnerError(err, "write the export")
			}
		}
		if len(found) == 0 {
			return nil
		}
		if err := flush(); err != nil {
			return faults.OwnerError(err, "write the export")
		}
	}
}

// exportPages reads one page of an export after the other.
type exportPages func(context.Context) ([]store.StoredRecord, error)

// exportPages returns the pages of a stream: in the order of changes, or the newest first of those that a search finds.
func (c *Collection) exportPages(s *api.Stream, declared *manifest.Stream, q api.ExportQuery) (exportPages, error) {
	list := store.RecordQuery{AccessFilter: store.AccessFilter{ConnectionID: s.ConnectionID, Stream: s.Name,
		Since: storedBound(q.Since), Until: storedBound(q.Until)}, Limit: exportPage, MaxBytes: exportBytes}
	var roles manifest.DisplayRoles
	if declared != nil {
		roles = declared.Roles()
	}
	var err error
	if list.Where, err = streamFilters(declared, q.Where); err != nil {
		return nil, err
	}
	within, err := roleFilters(roles, q.Thread, q.Author, q.Address)
	if err != nil {
		return nil, err
	}
	list.Where = append(list.Where, within...)
	if list.Compare, err = comparisons(declared, q.Compare); err != nil {
		return nil, err
	}
	if q.ByTime && len(list.Compare) > 0 {
		return nil, api.Invalid("by", "An export by time has only the bounds since and until.", "Leave out comparisons.")
	}
	if words := strings.TrimSpace(q.Text); words != "" {
		if len(list.Where)+len(list.Compare) > 0 || q.ByTime {
			return nil, api.Invalid("q", "Words and filters do not go together.", "Leave out one of them.")
		}
		search := store.SearchQuery{In: []store.AccessFilter{list.AccessFilter}, Text: words, Limit: exportPage,
			MaxBytes: exportBytes}
		return func(ctx context.Context) ([]store.StoredRecord, error) {
			found, err := c.store.Search(ctx, search)
			if len(found) > 0 {
				search.BeforeID = found[len(found)-1].ID
			}
			return found, err
		}, nil
	}
	if q.ByTime {
		return c.timedPages(store.ByTimeQuery{AccessFilter: store.AccessFilter{ConnectionID: s.ConnectionID,
			Stream: s.Name}, Field: roles.Time, From: q.Since, To: q.Until, Where: list.Where, NewestFirst: true,
			Limit: exportPage, MaxBytes: exportBytes})
	}
	return func(ctx context.Context) ([]store.StoredRecord, error) {
		found, err := c.store.ListRecords(ctx, list)
		if len(found) > 0 {
			list.AfterSeq = found[len(found)-1].Seq
		}
		return found, err
	}, nil
}

// timedPages returns the pages of a stream in the order of its time.
func (c *Collection) timedPages(list store.ByTimeQuery) (exportPages, error) {
	if list.Field == "" {
		return nil, errNoTime()
	}
	return func(ctx context.Context) ([]store.StoredRecord, error) {
		found, err := c.store.RecordsByTime(ctx, list)
		records := make([]store.StoredRecord, len(found))
		for i := range found {
			records[i] = found[i].StoredRecord
		}
		if len(found) > 0 {
			last := found[len(found)-1].TimePosition()
			list.After = &last
		}
		return records, err
	}, nil
}

// storedBound returns a bound in the form of stored times; empty means none.
func storedBound(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(protocol.StoredTime)
}
