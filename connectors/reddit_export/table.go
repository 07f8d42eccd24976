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

// table is one of the tables of an export.
type table struct {
	name   string
	files  []string
	stream string
	reason string
	// needs are columns without which it is a table of somebody else's.
	needs []string
	// thing makes a record of a row; false when the row is none.
	thing func(r *row) (any, bool)
}

// row is a row of a table, by the names of its columns.
type row struct {
	file  string // of the table, without its ending and the number of its part
	head  []string
	cells []string
	taken map[string]bool
	times map[[8]byte]uint32 // how often the file has had a row like it, for tables without keys
}

// text takes a column.
func (r *row) text(name string) string {
	r.taken[name] = true
	for i, column := range r.head {
		if column == name && i < len(r.cells) {
			return strings.ToValidUTF8(strings.ReplaceAll(r.cells[i], "\r\n", "\n"), "\uFFFD")
		}
	}
	return ""
}

// time takes a column that is a time. One that cannot be read stays where it is.
func (r *row) time(name string) string {
	at := timeOf(r.text(name))
	r.taken[name] = at != ""
	return at
}

// others are the columns that nobody took, as they are; nil when there is nothing in them.
func (r *row) others() map[string]string {
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

// rowPlace is a place in a file: how many of its rows are read.
type rowPlace struct {
	Rows int64 `json:"r"`
}

// longest is how long a row may be: a post has forty thousand characters at most.
const longest = 256 << 10

var part = regexp.MustCompile(`_[0-9]+$`)

func (t table) read(ctx context.Context, m *localarchive.Member) error {
	in, err := m.Open(ctx, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	rows := localarchive.NewTable(localarchive.Text(in))
	rows.Most = longest
	head, err := rows.Next()
	if err != nil && !errors.Is(err, localarchive.ErrRow) && !errors.Is(err, io.EOF) {
		return err
	}
	r := row{file: part.ReplaceAllString(strings.TrimSuffix(path.Base(m.Name), ".csv"), ""), times: map[[8]byte]uint32{}}
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
	var from rowPlace
	m.State(&from)
	for {
		cells, err := rows.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil && !errors.Is(err, localarchive.ErrRow) {
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
		if err := m.Place(ctx, func() any { return rowPlace{rows.Row + 1} }); err != nil {
			return err
		}
	}
}
