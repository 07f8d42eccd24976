package pocket

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localarchive"
)

// rowPosition is a place in a file: how many of its rows are read.
type rowPosition struct {
	Rows int64 `json:"r"`
}

// readCSVTable reads a table with column names in its first row.
func readCSVTable(ctx context.Context, m *localarchive.Member) error {
	in, err := m.Open(ctx, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	table := localarchive.NewTable(localarchive.DecodedText(in))
	head, err := table.Next()
	columns := map[string]int{}
	for i, name := range head {
		columns[strings.ToLower(strings.TrimSpace(name))] = i
	}
	if _, ok := columns["url"]; err != nil && !errors.Is(err, localarchive.ErrRowUnreadable) && !errors.Is(err, io.EOF) {
		return err
	} else if !ok {
		return localarchive.OtherKind("its first row names no column url")
	}
	var from rowPosition
	m.State(&from)
	known := linkKeys{}
	for {
		row, err := table.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil && !errors.Is(err, localarchive.ErrRowUnreadable) {
			return err
		}
		cell := func(name string) string {
			if i, ok := columns[name]; ok && i < len(row) {
				return row[i]
			}
			return ""
		}
		link, ok := known.newSavedItem(cell("url"), cell("title"), cell("time_added"), cell("status"),
			strings.Split(cell("tags"), "|"))
		if table.Row < from.Rows {
			continue // an earlier run has read it
		}
		if ok && err == nil {
			m.Emit("items", connectorkit.Upsert(link))
		} else {
			m.Row(table.Row, table.Length)
		}
		if err := m.Place(ctx, func() any { return rowPosition{table.Row + 1} }); err != nil {
			return err
		}
	}
}
