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
	for _, name := range names {
		declared, err := c.declaredStream(ctx, conn.ID, name)
		if err != nil {
			return err
		}
		s := api.Stream{ConnectionID: conn.ID, Name: name}
		if declared != nil {
			s.Fields, s.FieldKinds = declaration.Fields(jsontext.Value(declared.Schema))
		}
		streams = append(streams, s)
	}
	buffered := bufio.NewWriterSize(w, 1<<16)
	out, err := format.Open(buffered, streams)
	if err != nil {
		return faults.OwnerError(err, "write the export")
	}
	for i := range streams {
		if err := c.exportStream(ctx, out, buffered.Flush, &streams[i], q); err != nil {
			return err
		}
	}
	if err := out.Close(); err != nil {
		return faults.OwnerError(err, "write the export")
	}
	return faults.OwnerError(buffered.Flush(), "write the export")
}

func (c *Collection) exportStream(ctx context.Context, out export.Writer, flush func() error, s *api.Stream,
	q api.ExportQuery) error {
	next := c.exportPages(s, q)
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

// exportPages returns a function that reads one page after the other: in the order of changes, or the newest first of
// those that a search finds.
func (c *Collection) exportPages(s *api.Stream, q api.ExportQuery) func(context.Context) ([]store.StoredRecord, error) {
	part := store.AccessFilter{ConnectionID: s.ConnectionID, Stream: s.Name, Since: storedBound(q.Since),
		Until: storedBound(q.Until)}
	if words := strings.TrimSpace(q.Text); words != "" {
		search := store.SearchQuery{In: []store.AccessFilter{part}, Text: words, Limit: exportPage,
			MaxBytes: exportBytes}
		return func(ctx context.Context) ([]store.StoredRecord, error) {
			found, err := c.store.Search(ctx, search)
			if len(found) > 0 {
				search.BeforeID = found[len(found)-1].ID
			}
			return found, err
		}
	}
	list := store.RecordQuery{AccessFilter: part, Limit: exportPage, MaxBytes: exportBytes}
	return func(ctx context.Context) ([]store.StoredRecord, error) {
		found, err := c.store.ListRecords(ctx, list)
		if len(found) > 0 {
			list.AfterSeq = found[len(found)-1].Seq
		}
		return found, err
	}
}

// storedBound returns a bound in the form of stored times; empty means none.
func storedBound(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(protocol.StoredTime)
}
