package browserhistory

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localdb"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

const (
	batchRows = 500
	// rowSettleTime is how long after it was made a row is still being completed: titles come when a
	// page has loaded, durations when it is left.
	rowSettleTime = time.Hour
	// recheckInterval is how often rows are looked at again that may change much later.
	recheckInterval = 24 * time.Hour
	// recheckDepth is how far that look goes back.
	recheckDepth = 30 * 24 * time.Hour
)

// historyReader is the history of one profile being read.
type historyReader struct {
	f        *localfile.File
	db       *sql.DB
	browser  string
	profile  string
	leaveOut excludedHosts
	marks    map[string]*tableMark // by table

	columns map[string]map[string]bool // by table
}

// tableMark is how far a table has been read. There are two marks, because browsers write new rows
// with old times (synced ones) and change rows that they have written.
type tableMark struct {
	Row    int64 `json:"row"`    // the largest row that was read
	At     int64 `json:"at"`     // the time in that row, as stored
	Recent int64 `json:"recent"` // in microseconds: up to here every change of a row was seen
	Seldom int64 `json:"seldom"` // the same of rows that change late
	// Sent are short digests of the rows that were looked at last, so that those which did not
	// change are not sent again.
	Sent []byte `json:"sent,omitempty"`
}

const (
	digestBytes = 5
	maxDigests  = 200
)

// rowDigest returns a digest that changes whenever the row changes.
func (t historyTable) rowDigest(row []any) []byte {
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "%q", row) // a hash never fails
	if t.beside != nil {
		_, _ = fmt.Fprintf(sum, "%q", t.beside(row))
	}
	return sum.Sum(nil)[:digestBytes]
}

// wasSent reports whether a row was sent in this form.
func (m *tableMark) wasSent(digest []byte) bool {
	for one := range slices.Chunk(m.Sent, digestBytes) {
		if bytes.Equal(one, digest) {
			return true
		}
	}
	return false
}

// historyTable is how the rows of a table are read.
type historyTable struct {
	name string
	at   string // what its time is read by, a whole number
	// fields are read after the row's number and its time, which come first, from the table, named t, and its joins.
	fields []string
	joined string
	// window is a condition that is true for rows which may have changed since ?2, in the table's
	// own time.
	window string
	// far is how far back the seldom look goes; zero means to the beginning.
	far   time.Duration
	epoch timeEpoch
	// take emits one row.
	take func(row []any)
	// beside returns a record's values that are not fields of the row; nil when there are none.
	beside func(row []any) []string
}

// readDatabase opens the profile's database, and reads it again when a copy is needed.
func (h *historyReader) readDatabase(ctx context.Context, path string, as *browserFamily) error {
	return localdb.ReadDatabase(ctx, path, func(ctx context.Context, db *sql.DB) error {
		h.db, h.columns = db, map[string]map[string]bool{}
		if err := localdb.CompareSchema(ctx, db, h.f.Sample(as.name, as.streams)); err != nil {
			return err
		}
		return as.read(ctx, h)
	})
}

// readerState is how far the profile has been read.
func (h *historyReader) readerState() any { return h.marks }

// columnOrDefault returns the expression for a column of table t, or the default where this version lacks the column.
func (h *historyReader) columnOrDefault(ctx context.Context, name, alias, column, otherwise string) (string, error) {
	if h.columns[name] == nil {
		columns, err := localdb.Columns(ctx, h.db, name)
		if err != nil {
			return "", err
		}
		h.columns[name] = columns
	}
	if h.columns[name][column] {
		return alias + `."` + column + `"`, nil
	}
	return otherwise, nil
}

// hasColumns reports whether a table has these columns.
func (h *historyReader) hasColumns(ctx context.Context, name string, columns ...string) (bool, error) {
	for _, column := range columns {
		if text, err := h.columnOrDefault(ctx, name, "t", column, ""); err != nil || text == "" {
			return false, err
		}
	}
	return true, nil
}

// readTable emits the new rows of a table, and those that may have changed.
func (h *historyReader) readTable(ctx context.Context, t historyTable) error {
	m := h.marks[t.name]
	if m == nil {
		m = &tableMark{}
		h.marks[t.name] = m
	}
	same, err := h.isSameTable(ctx, t, m)
	if err != nil {
		return err
	}
	if !same { // another database lies here now
		*m = tableMark{}
	}
	now := h.f.Changed.UnixMicro()
	known := m.Row
	if known == 0 { // everything is new
		m.Recent, m.Seldom = now, now
	}
	var seen []byte
	take := func(row []any) {
		digest := t.rowDigest(row)
		if seen = append(seen, digest...); len(seen) > maxDigests*digestBytes {
			seen = seen[digestBytes:]
		}
		if !m.wasSent(digest) {
			t.take(row)
		}
	}
	if known > 0 {
		if err := h.rereadRecentRows(ctx, t, m, take); err != nil {
			return err
		}
	}
	for from := m.Row; ; {
		last, at, n, err := h.readRowBatch(ctx, t, take, "t.rowid > ?1", from)
		if err != nil {
			return err
		}
		if n > 0 {
			m.Row, m.At, from = last, at, last
		}
		if n < batchRows {
			m.Sent = slices.Clone(seen)
		}
		if err := h.f.Place(ctx, h.readerState); err != nil {
			return err
		}
		if n < batchRows {
			return nil
		}
	}
}

// rereadRecentRows reads rows again that may have changed since they were read.
func (h *historyReader) rereadRecentRows(ctx context.Context, t historyTable, m *tableMark, take func([]any)) error {
	now, known := h.f.Changed.UnixMicro(), m.Row
	since := m.Recent - rowSettleTime.Microseconds()
	late := now-m.Seldom >= recheckInterval.Microseconds()
	if late {
		since = now - t.far.Microseconds()
		if t.far == 0 {
			since = 0
		}
	}
	for from := int64(0); from < known; {
		last, _, n, err := h.readRowBatch(ctx, t, take, "t.rowid > ?1 AND t.rowid <= ?3 AND ("+t.window+")", from,
			t.epoch.fromUnixMicro(since), known)
		if err != nil {
			return err
		}
		if err := h.f.Place(ctx, h.readerState); err != nil {
			return err
		}
		if from = last; n < batchRows {
			break
		}
	}
	m.Recent = now
	if late {
		m.Seldom = now
	}
	return nil
}

// isSameTable reports whether the table is the one that was read before: no row's number is lower than
// the last one was, and that one, if it is still there, has the same time.
func (h *historyReader) isSameTable(ctx context.Context, t historyTable, m *tableMark) (bool, error) {
	if m.Row == 0 {
		return true, nil
	}
	var largest sql.NullInt64
	if err := h.db.QueryRowContext(ctx, "SELECT max(rowid) FROM "+t.name).Scan(&largest); err != nil {
		return false, fmt.Errorf("read %s: %w", t.name, err)
	}
	if largest.Int64 < m.Row {
		return false, nil
	}
	var at any
	err := h.db.QueryRowContext(ctx, fmt.Sprintf("SELECT %s FROM %s t WHERE t.rowid = ?1", t.at, t.name), m.Row).Scan(&at)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("read %s: %w", t.name, err)
	}
	return integerValue(at) == m.At, nil
}

// readRowBatch emits up to batchRows rows after a row, by row number.
func (h *historyReader) readRowBatch(ctx context.Context, t historyTable, take func([]any), where string,
	args ...any) (last, at int64,
	n int, err error) {
	rows, err := h.db.QueryContext(ctx,
		fmt.Sprintf("SELECT t.rowid, %s, %s FROM %s t %s WHERE %s ORDER BY t.rowid LIMIT %d", t.at,
			strings.Join(t.fields, ", "), t.name, t.joined, where, batchRows), args...)
	if err != nil {
		return 0, 0, 0, fmt.Errorf("read %s: %w", t.name, err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return 0, 0, 0, fmt.Errorf("read %s: %w", t.name, err)
	}
	row := make([]any, len(names))
	into := make([]any, len(names))
	for i := range row {
		into[i] = &row[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return 0, 0, 0, fmt.Errorf("read %s: %w", t.name, err)
		}
		last, at = integerValue(row[0]), integerValue(row[1])
		n++
		take(row)
	}
	if err := rows.Err(); err != nil {
		return 0, 0, 0, fmt.Errorf("read %s: %w", t.name, err)
	}
	return last, at, n, nil
}

// rowKey is the key of a row: its profile, its number and, since numbers are used again, its time.
func (h *historyReader) rowKey(row, at any) string {
	return h.f.ID + "/" + strconv.FormatInt(integerValue(row), 10) + "/" + strconv.FormatInt(integerValue(at), 10)
}

// emitRecord emits a record, unless the owner excluded its host.
func (h *historyReader) emitRecord(stream, host string, size int, rec any) {
	h.f.Read(int64(size) + 200)
	if h.leaveOut.excludesHost(host) {
		h.f.Skip("excluded_host")
		return
	}
	h.f.Emit(stream, connectorkit.Upsert(rec))
}

// integerValue is a whole number; anything else that a column may hold is rounded, or zero.
func integerValue(v any) int64 {
	switch v := v.(type) {
	case int64:
		return v
	case float64:
		if v > -9e18 && v < 9e18 {
			return int64(v)
		}
	case string:
		if n, err := strconv.ParseInt(v, 10, 64); err == nil {
			return n
		}
	case bool:
		if v {
			return 1
		}
	}
	return 0
}

// optionalInteger is a number that may be unknown.
func optionalInteger(v any) *int64 {
	if v == nil {
		return nil
	}
	n := integerValue(v)
	return &n
}

// boundedText returns a text of bounded length; empty when the column has no text.
func boundedText(v any, limit int) string {
	switch v := v.(type) {
	case string:
		return localfile.ShortText(v, limit)
	case []byte:
		return localfile.ShortText(string(v), limit)
	}
	return ""
}

const (
	maxTitleBytes = 1000
	maxAddress    = 4000
)
