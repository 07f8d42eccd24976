package export

import (
	"encoding/csv"
	"io"
	"strings"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// Columns that every table has beside the fields of its records.
const (
	columnStream = "_stream"
	columnKey    = "_key"
	columnOther  = "_other"
	columnSeq    = "_change_seq" // only of changes
)

// table writes CSV. It loses nothing of a record: fields without a column are in the last one.
type table struct {
	w       *csv.Writer
	columns []string
	row     []string
	begun   bool
}

func newTable(to io.Writer, streams []api.Stream) (Writer, error) {
	names := columns(streams)
	return &table{w: csv.NewWriter(to), columns: names, row: make([]string, len(names)+3)}, nil
}

func (t *table) heading() error {
	if t.begun {
		return nil
	}
	t.begun = true
	heads := []string{columnStream, columnKey}
	for _, name := range t.columns {
		heads = append(heads, EscapeFormula(name))
	}
	return t.w.Write(append(heads, columnOther))
}

func (t *table) Write(_ *api.Stream, r *Record) (err error) {
	if err := t.heading(); err != nil {
		return err
	}
	members := r.fields()
	t.row[0], t.row[1] = r.Stream, EscapeFormula(r.Key)
	for i, name := range t.columns {
		v := members[name]
		if t.row[i+2] = valueText(v); v.Kind() == '"' { // a number stays a number
			t.row[i+2] = EscapeFormula(t.row[i+2])
		}
		delete(members, name)
	}
	if t.row[len(t.row)-1], err = rest(members); err != nil {
		return err
	}
	return t.w.Write(t.row)
}

func (t *table) Close() error {
	if err := t.heading(); err != nil {
		return err
	}
	t.w.Flush()
	return t.w.Error()
}

// EscapeFormula keeps a spreadsheet from taking text for a formula: what others wrote must not
// compute anything on the owner's machine.
func EscapeFormula(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r\n", rune(text[0])) {
		return "'" + text
	}
	return text
}
