package redditexport

import (
	"context"
	"errors"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localarchive"
)

// exportTable is one of the tables of an export.
type exportTable struct {
	name   string
	files  []string
	stream string
	reason string
	// needs are the columns that a table of Reddit must have.
	needs []string
	// thing maps a row to a record; false for an invalid row.
	thing func(r *tableRow) (any, bool)
}

// tableRow is a row of a table, by the names of its columns.
type tableRow struct {
	file  string // of the table, without its ending and the number of its part
	head  []string
	cells []string
	taken map[string]bool
	times map[[8]byte]uint32 // how often the file has had a row like it, for tables without keys
}

// takeText returns a column and marks it as read.
func (r *tableRow) takeText(name string) string {
	r.taken[name] = true
	for i, column := range r.head {
		if column == name && i < len(r.cells) {
			return strings.ToValidUTF8(strings.ReplaceAll(r.cells[i], "\r\n", "\n"), "\uFFFD")
		}
	}
	return ""
}

// takeTime returns a time column and marks it as read. An invalid time stays among the remaining columns.
func (r *tableRow) takeTime(name string) string {
	at := parseExportTime(r.takeText(name))
	r.taken[name] = at != ""
	return at
}

// remainingColumns returns the columns that no take call has read; nil when they are empty.
func (r *tableRow) remainingColumns() map[string]string {
	var out map[string]string
	for i, column := range r.head {
		if r.taken[column] || i >= len(r.cells) || r.cells[i] == "" || column == "" {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[column] = strings.ToValidUTF8(strings.ReplaceAll(r.cells[i], "\r\n", "\n"), "\uFFFD")
	}
	return out
}

// rowPosition is a place in a file: how many of its rows are read.
type rowPosition struct {
	Rows int64 `json:"r"`
}

// maxRowBytes is how long a row may be: a post has forty thousand characters at most.
const maxRowBytes = 256 << 10

var partSuffix = regexp.MustCompile(`_[0-9]+$`)

func (t exportTable) readTableFile(ctx context.Context, m *localarchive.Member) error {
	in, err := m.Open(ctx, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	rows := localarchive.NewTable(localarchive.DecodedText(in))
	rows.Most = maxRowBytes
	head, err := rows.Next()
	if err != nil && !errors.Is(err, localarchive.ErrRowUnreadable) && !errors.Is(err, io.EOF) {
		return err
	}
	r := tableRow{file: partSuffix.ReplaceAllString(strings.TrimSuffix(path.Base(m.Name), ".csv"), ""),
		times: map[[8]byte]uint32{}}
	for _, name := range head {
		r.head = append(r.head, strings.ToLower(strings.ToValidUTF8(strings.TrimSpace(name), "\uFFFD")))
	}
	for _, name := range t.needs {
		if !slices.Contains(r.head, name) {
			return localarchive.OtherKind("its first row names no column %s", name)
		}
	}
	if len(head) == 0 {
		return localarchive.OtherKind("it has no first row")
	}
	var from rowPosition
	m.State(&from)
	for {
		cells, err := rows.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil && !errors.Is(err, localarchive.ErrRowUnreadable) {
			return err
		}
		r.cells, r.taken = cells, map[string]bool{}
		thing, ok := t.thing(&r)
		if rows.Row < from.Rows {
			continue // an earlier run has read it
		}
		if ok && err == nil {
			m.Emit(t.stream, connectorkit.Upsert(thing))
		} else {
			m.Row(rows.Row, rows.Length)
		}
		if err := m.Place(ctx, func() any { return rowPosition{rows.Row + 1} }); err != nil {
			return err
		}
	}
}
