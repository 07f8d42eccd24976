package cli

import (
	"encoding/csv"
	"io"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"pdpp/internal/store"
	"pdpp/manifest"
)

// recordWriter writes records in one format. finish writes what is buffered.
type recordWriter interface {
	write(r *store.StoredRecord) error
	finish() error
}

func newRecordWriter(format string, w io.Writer, m *manifest.Manifest, streams []string) recordWriter {
	if format == "csv" {
		return newCSVWriter(w, columns(m, streams))
	}
	return &jsonLines{w}
}

type jsonLines struct{ w io.Writer }

func (j *jsonLines) write(r *store.StoredRecord) error {
	b, err := json.Marshal(r, jsontext.AllowInvalidUTF8(true), utcTimes)
	if err != nil {
		return err
	}
	_, err = j.w.Write(append(b, '\n'))
	return err
}

func (*jsonLines) finish() error { return nil }

// csvWriter keeps everything of a record: what has no column goes to the last one.
type csvWriter struct {
	w       *csv.Writer
	columns []string
	row     []string
	begun   bool
}

const (
	columnStream = "_stream"
	columnKey    = "_key"
	columnOther  = "_other"
)

func newCSVWriter(w io.Writer, fields []string) *csvWriter {
	return &csvWriter{w: csv.NewWriter(w), columns: fields, row: make([]string, len(fields)+3)}
}

func (c *csvWriter) heading() error {
	if c.begun {
		return nil
	}
	c.begun = true
	return c.w.Write(slices.Concat([]string{columnStream, columnKey}, c.columns, []string{columnOther}))
}

func (c *csvWriter) write(r *store.StoredRecord) error {
	if err := c.heading(); err != nil {
		return err
	}
	members := map[string]jsontext.Value{}
	if err := json.Unmarshal(r.Data, &members, jsontext.AllowDuplicateNames(true)); err != nil {
		return err
	}
	c.row[0], c.row[1] = r.Stream, r.Key
	for i, name := range c.columns {
		c.row[i+2] = cell(members[name])
		delete(members, name)
	}
	last := len(c.row) - 1
	c.row[last] = ""
	if len(members) > 0 {
		rest, err := json.Marshal(members, json.Deterministic(true))
		if err != nil {
			return err
		}
		c.row[last] = string(rest)
	}
	return c.w.Write(c.row)
}

func (c *csvWriter) finish() error {
	if err := c.heading(); err != nil {
		return err
	}
	c.w.Flush()
	return c.w.Error()
}

// cell is a value as text: strings as they are, null as nothing, the rest as JSON.
func cell(v jsontext.Value) string {
	switch v.Kind() {
	case '"':
		var s string
		_ = json.Unmarshal(v, &s) // the store keeps only valid JSON
		return s
	case 'n', 0:
		return ""
	default:
		compact := v.Clone()
		_ = compact.Compact()
		return string(compact)
	}
}

// columns is the union of the fields that the streams declare, in order of
// declaration.
func columns(m *manifest.Manifest, streams []string) []string {
	if m == nil {
		return nil
	}
	var out []string
	for _, name := range streams {
		s, ok := m.Stream(name)
		if !ok {
			continue
		}
		for _, field := range propertyNames(jsontext.Value(s.Schema)) {
			if !slices.Contains(out, field) {
				out = append(out, field)
			}
		}
	}
	return out
}
