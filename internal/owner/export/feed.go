package export

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// RecordChoice selects which records of a stream are written. The zero value means all.
type RecordChoice struct {
	Since time.Time `json:"since,omitzero"` // nothing before this time
	Until time.Time `json:"until,omitzero"` // only what is before this time
	Text  string    `json:"text,omitzero"`  // only records that contain all these words
}

func (s RecordChoice) equal(other RecordChoice) bool {
	return s.Since.Equal(other.Since) && s.Until.Equal(other.Until) && s.Text == other.Text
}

// Job is one export: where it reads, and how it writes.
type Job struct {
	Owner     api.Owner
	Format    Format
	Selection RecordChoice
	// Within limits the records of each stream of Write instead of Selection. Nil means no such limits.
	Within []api.ExportQuery
	// Note is called after every record. It may be nil.
	Note func(s *api.Stream, records int64)
	// Skip reports whether to leave out the records of a stream. It may be nil.
	Skip func(s *api.Stream) bool
}

// Copy writes the records of a stream and returns how many it wrote.
func (j Job) Copy(ctx context.Context, to Writer, s *api.Stream) (written int64, err error) {
	return j.copy(ctx, to, s, api.ExportQuery{Since: j.Selection.Since, Until: j.Selection.Until, Text: j.Selection.Text})
}

func (j Job) copy(ctx context.Context, to Writer, s *api.Stream, q api.ExportQuery) (written int64, err error) {
	f := feed{job: j, stream: s}
	f.write = func(r *Record) error {
		if err := to.Write(s, r); err != nil {
			return &WriteError{err}
		}
		if written++; j.Note != nil {
			j.Note(s, written)
		}
		return nil
	}
	q.ConnectionID, q.Stream, q.Format = s.ConnectionID, s.Name, "jsonl"
	f.ctx = ctx
	err = j.Owner.Export(ctx, &f, q)
	if f.failed != nil {
		return written, f.failed
	}
	if err != nil {
		return written, err
	}
	return written, f.finish()
}

// WriteError is an error of the place that an export is written to.
type WriteError struct{ err error }

func (e *WriteError) Error() string { return "write the export: " + e.err.Error() }

// Unwrap returns the error of the place.
func (e *WriteError) Unwrap() error { return e.err }

// lookupSize is how many records are looked up at once: one page of records by key.
const lookupSize = 100

// feed receives JSON lines and hands on records.
type feed struct {
	ctx    context.Context
	job    Job
	stream *api.Stream
	write  func(*Record) error
	line   bytes.Buffer
	last   Record // of a format without lookups
	batch  []*Record
	found  *lookups
	failed error
}

// Write takes a piece of the lines.
func (f *feed) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0 && f.failed == nil; {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			f.line.Write(rest)
			break
		}
		f.line.Write(rest[:i])
		rest = rest[i+1:]
		f.failed = f.record(f.line.Bytes())
		f.line.Reset()
	}
	if f.failed != nil {
		return 0, f.failed
	}
	return len(b), nil
}

func (f *feed) record(line []byte) error {
	r := &f.last
	if f.job.Format.reader {
		r = &Record{} // it is kept until its lookups are complete
	}
	clear(r.members)
	*r = Record{Record: api.Record{Data: r.Data[:0]}, members: r.members}
	if err := json.Unmarshal(line, &r.Record); err != nil {
		return fmt.Errorf("read an exported record: %w", err)
	}
	if !f.job.Format.reader {
		return f.write(r)
	}
	if f.batch = append(f.batch, r); len(f.batch) < lookupSize {
		return nil
	}
	return f.handOn()
}

// finish hands on the last records.
func (f *feed) finish() error {
	if f.line.Len() > 0 {
		return fmt.Errorf("the export ended within a record")
	}
	return f.handOn()
}

func (f *feed) handOn() error {
	if len(f.batch) == 0 {
		return nil
	}
	if f.found == nil {
		made, err := newLookups(f.ctx, f.job.Owner, f.stream)
		if err != nil {
			return err
		}
		f.found = made
	}
	if err := f.found.add(f.ctx, f.batch); err != nil {
		return err
	}
	for _, r := range f.batch {
		if err := f.write(r); err != nil {
			return err
		}
	}
	f.batch = f.batch[:0]
	return nil
}
