package reading

import (
	"bufio"
	"encoding/csv"
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// Columns that every table has beside the fields of its records.
const (
	columnStream = "_stream"
	columnKey    = "_key"
	columnOther  = "_other"
)

// csvWriter keeps everything of a record: what has no column goes to the last one.
type csvWriter struct {
	w       *csv.Writer
	to      *bufio.Writer
	columns []string
	row     []string
	begun   bool
}

func newCSVWriter(w *bufio.Writer, fields []string) *csvWriter {
	var columns []string
	for _, name := range fields {
		if !slices.Contains(columns, name) {
			columns = append(columns, name)
		}
	}
	return &csvWriter{w: csv.NewWriter(w), to: w, columns: columns, row: make([]string, len(columns)+3)}
}

func (c *csvWriter) heading() error {
	if c.begun {
		return nil
	}
	c.begun = true
	heads := []string{columnStream, columnKey}
	for _, name := range c.columns {
		heads = append(heads, escapeFormula(name))
	}
	return c.w.Write(append(heads, columnOther))
}

func (c *csvWriter) write(r *store.StoredRecord) error {
	if err := c.heading(); err != nil {
		return err
	}
	members := map[string]jsontext.Value{}
	if err := json.Unmarshal(r.Data, &members, jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true)); err != nil {
		return err
	}
	c.row[0], c.row[1] = r.Stream, escapeFormula(r.Key)
	for i, name := range c.columns {
		c.row[i+2] = csvCellText(members[name])
		delete(members, name)
	}
	last := len(c.row) - 1
	c.row[last] = ""
	if len(members) > 0 {
		rest, err := json.Marshal(members, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
		if err != nil {
			return err
		}
		c.row[last] = string(rest)
	}
	return c.w.Write(c.row)
}

func (c *csvWriter) finish() error { return c.heading() }

func (c *csvWriter) flush() error {
	c.w.Flush()
	return errors.Join(c.w.Error(), c.to.Flush())
}

// csvCellText is a value as text: strings inert, null as nothing, the rest as JSON.
func csvCellText(v jsontext.Value) string {
	switch v.Kind() {
	case '"':
		var s string
		_ = json.Unmarshal(v, &s, jsontext.AllowInvalidUTF8(true)) // the store keeps only valid JSON
		return escapeFormula(s)
	case 'n', 0:
		return ""
	default:
		compact := v.Clone()
		_ = compact.Compact()
		return string(compact)
	}
}

// escapeFormula keeps a spreadsheet from taking text for a formula: what others wrote must not
// compute anything on the owner's machine. A number of JSON stays a number.
func escapeFormula(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r\n", rune(text[0])) {
		return "'" + text
	}
	return text
}
