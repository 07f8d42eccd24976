package reading

import (
	"bufio"
	"context"
	"encoding/json"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/declaration"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// exportPage and exportBytes bound the records that are held at once. They are read right before they are written, so
// that a reader who is slow gets none that were deleted meanwhile, but for one page.
const (
	exportPage  = 500
	exportBytes = 1 << 17
)

// Formats of an export.
const (
	formatLines = "jsonl"
	formatCSV   = "csv"
)

// recordWriter writes records in one format. flush hands on what is buffered, finish writes what belongs to the end.
type recordWriter interface {
	write(r *store.StoredRecord) error
	flush() error
	finish() error
}

// Export writes the live records of a stream, or of every stream of the connection. A
// record that changes meanwhile may come again, further down and newer; one that is deleted
// meanwhile is left out. Nothing is
// written before it is known that there is something to export.
func (c *Collection) Export(ctx context.Context, w io.Writer, q api.ExportQuery) error {
	if q.Format != formatLines && q.Format != formatCSV {
		return api.Invalid("format", "Records are exported as jsonl or csv.", "Choose one of the two.")
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
	var columns []string
	for _, name := range names {
		declared, err := c.declaredStream(ctx, conn.ID, name)
		if err != nil {
			return err
		}
		if declared != nil {
			columns = append(columns, declaration.CredentialFields(jsontext.Value(declared.Schema))...)
		}
	}
	buffered := bufio.NewWriterSize(w, 1<<16)
	var out recordWriter = &jsonLines{buffered}
	if q.Format == formatCSV {
		out = newCSVWriter(buffered, columns)
	}
	for _, name := range names {
		if err := c.exportStream(ctx, out, store.AccessFilter{ConnectionID: conn.ID, Stream: name}); err != nil {
			return err
		}
	}
	if err := out.finish(); err != nil {
		return faults.OwnerError(err, "write the export")
	}
	return faults.OwnerError(out.flush(), "write the export")
}

func (c *Collection) exportStream(ctx context.Context, out recordWriter, part store.AccessFilter) error {
	q := store.RecordQuery{AccessFilter: part, Limit: exportPage, MaxBytes: exportBytes}
	for {
		found, err := c.store.ListRecords(ctx, q)
		if err != nil {
			return faults.OwnerError(err, "read the records")
		}
		for i := range found {
			if err := out.write(&found[i]); err != nil {
				return faults.OwnerError(err, "write the export")
			}
		}
		if len(found) == 0 {
			return nil
		}
		if err := out.flush(); err != nil {
			return faults.OwnerError(err, "write the export")
		}
		q.AfterSeq = found[len(found)-1].Seq
	}
}

type jsonLines struct{ w *bufio.Writer }

func (j *jsonLines) write(r *store.StoredRecord) error {
	encoder := json.NewEncoder(j.w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(showRecord(r))
}

func (j *jsonLines) flush() error { return j.w.Flush() }

func (*jsonLines) finish() error { return nil }
