package localdb

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

const (
	// ChangeWindow is how long after its time a row may still change.
	ChangeWindow = 30 * 24 * time.Hour

	defaultPageRows = 500
	rowsPerQuery    = 200
	checksumBuckets = 256
	oldestAnchors   = 2
	newestAnchors   = 6
)

// Table is a table that grows at its end. Rows of the last weeks may still change. In
// all of its parts of queries the table is called t.
type Table struct {
	Name string
	ID   string // column with the row's number
	Key  string // column with what identifies the row in every copy of the database
	// Largest is a query for the largest row number ever assigned; empty uses that of the rows which
	// exist. It distinguishes a restored database from one of which rows
	// were deleted.
	Largest string
	// Select begins a query for rows, up to its conditions.
	Select string
	// Recent is the condition of rows of that time or later; their Row.At is the time that
	// it compares.
	Recent func(from time.Time) (condition string, args []any)
	// Row reads a row.
	Row func(*sql.Rows) (Row, error)
	// Complete adds content of other tables to rows. It may be nil.
	Complete func(context.Context, *sql.DB, []*Row) error
}

// Row is one row with its content.
type Row struct {
	ID      int64
	Key     string
	At      time.Time // zero when it has none
	Records []Record
	// Missing is the reason why a row cannot be read; empty if it can.
	Missing string
}

// Record is one record of a row.
type Record struct {
	Stream string
	Data   any
}

// Mark is how far a table was read. Its zero value is the beginning.
type Mark struct {
	// High and Low enclose the rows that were read, both among them.
	High int64 `json:"high,string"`
	Low  int64 `json:"low,string"`
	// Whole reports that no row below Low is left to read.
	Whole bool `json:"whole,omitzero"`
	Begun bool `json:"begun,omitzero"`
	// From is where the window begins, in seconds, and Sums the checksums of its rows when they
	// were brought, by bucket.
	From int64  `json:"from,omitzero"`
	Sums []byte `json:"sums,omitempty"`
	// Anchors are rows that identify the database.
	Anchors []Anchor `json:"anchors,omitempty"`
}

// Anchor is a row that was read.
type Anchor struct {
	ID  int64  `json:"i,string"`
	Key string `json:"k"` // a short hash
}

// Follower reads on where a mark is.
type Follower struct {
	DB    *sql.DB
	Table Table
	Mark  *Mark
	Now   time.Time
	// Page is how many rows are read at once; 500 when zero.
	Page int
	// Bring gets every row that is new or changed.
	Bring func(Row)
	// Place is called when the mark covers everything that was emitted.
	Place func(context.Context) error
}

// Follow brings new rows, then those of the window that changed, then older ones, newest
// first. A database that is not the one of the mark is read from its beginning.
func (f *Follower) Follow(ctx context.Context) error {
	last, given, err := f.largestRowNumbers(ctx)
	if err != nil {
		return err
	}
	same, err := f.isSameDatabase(ctx, max(last, given))
	if err != nil {
		return err
	}
	if !same || !f.Mark.Begun {
		*f.Mark = Mark{Begun: true, High: last, Low: last + 1, From: windowStart(f.Now)}
	}
	if len(f.Mark.Sums) != 4*checksumBuckets {
		f.Mark.Sums = make([]byte, 4*checksumBuckets)
	}
	for f.Mark.High < last { // larger numbers may be assigned before their rows are visible
		rows, err := f.readRows(ctx, fmt.Sprintf("t.%s > ? AND t.%s <= ? ORDER BY t.%s LIMIT %d", f.Table.ID, f.Table.ID,
			f.Table.ID, f.pageRows()), f.Mark.High, last)
		if err != nil {
			return err
		}
		f.emitRows(rows)
		if f.Mark.High = last; len(rows) == f.pageRows() {
			f.Mark.High = rows[len(rows)-1].ID
		}
		if err := f.Place(ctx); err != nil {
			return err
		}
	}
	if err := f.recheckWindow(ctx); err != nil {
		return err
	}
	for !f.Mark.Whole {
		rows, err := f.readRows(ctx, fmt.Sprintf("t.%s < ? ORDER BY t.%s DESC LIMIT %d", f.Table.ID, f.Table.ID,
			f.pageRows()),
			f.Mark.Low)
		if err != nil {
			return err
		}
		f.emitRows(rows)
		if len(rows) > 0 {
			f.Mark.Low = rows[len(rows)-1].ID
		}
		f.Mark.Whole = len(rows) < f.pageRows()
		if err := f.Place(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (f *Follower) pageRows() int { return cmp.Or(f.Page, defaultPageRows) }

func windowStart(now time.Time) int64 {
	return now.UTC().Add(-ChangeWindow).Truncate(24 * time.Hour).Unix()
}

// largestRowNumbers returns the number of the last row and the largest number ever assigned.
func (f *Follower) largestRowNumbers(ctx context.Context) (last, given int64, err error) {
	var there, ever sql.NullInt64
	if err := f.DB.QueryRowContext(ctx,
		fmt.Sprintf("SELECT max(t.%s) FROM %s t", f.Table.ID, f.Table.Name)).Scan(&there); err != nil {
		return 0, 0, fmt.Errorf("find the last row of %s: %w", f.Table.Name, err)
	}
	if f.Table.Largest != "" {
		if err := f.DB.QueryRowContext(ctx, f.Table.Largest).Scan(&ever); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return 0, 0, fmt.Errorf("find the last number of %s: %w", f.Table.Name, err)
		}
	}
	return there.Int64, ever.Int64, nil
}

// isSameDatabase reports whether the database is the one that the mark is of: no number is smaller
// than it was, and the rows which are still there are the ones that were read.
func (f *Follower) isSameDatabase(ctx context.Context, largest int64) (bool, error) {
	if largest < f.Mark.High {
		return false, nil
	}
	if len(f.Mark.Anchors) == 0 {
		return true, nil
	}
	var ids []any
	for _, a := range f.Mark.Anchors {
		ids = append(ids, a.ID)
	}
	rows, err := f.DB.QueryContext(ctx, fmt.Sprintf("SELECT t.%s, t.%s FROM %s t WHERE t.%s IN (%s)", f.Table.ID,
		f.Table.Key, f.Table.Name, f.Table.ID, placeholders(len(ids))), ids...)
	if err != nil {
		return false, fmt.Errorf("look for known rows of %s: %w", f.Table.Name, err)
	}
	defer rows.Close()
	found := 0
	for rows.Next() {
		var id int64
		var key any
		if err := rows.Scan(&id, &key); err != nil {
			return false, fmt.Errorf("look for known rows of %s: %w", f.Table.Name, err)
		}
		found++
		if !slices.Contains(f.Mark.Anchors, Anchor{id, shortHash(ValueText(key))}) {
			return false, nil
		}
	}
	return found > 0, rows.Err()
}

// readRows reads rows under a condition.
func (f *Follower) readRows(ctx context.Context, condition string, args ...any) ([]*Row, error) {
	list, err := f.scanRows(ctx, condition, args)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Table.Name, err)
	}
	if f.Table.Complete != nil && len(list) > 0 {
		if err := f.Table.Complete(ctx, f.DB, list); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (f *Follower) scanRows(ctx context.Context, condition string, args []any) ([]*Row, error) {
	rows, err := f.DB.QueryContext(ctx, f.Table.Select+" WHERE "+condition, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []*Row
	for rows.Next() {
		row, err := f.Table.Row(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, &row)
	}
	return list, rows.Err()
}

// emitRows hands over rows that were not brought before.
func (f *Follower) emitRows(rows []*Row) {
	for _, row := range rows {
		if row.isWithin(f.Mark.From) {
			toggleChecksum(f.Mark.Sums, row)
		}
		f.Bring(*row)
		f.storeAnchor(row)
	}
}

func (r *Row) isWithin(from int64) bool { return !r.At.IsZero() && r.At.Unix() >= from }

// storeAnchor keeps the first rows and the last.
func (f *Follower) storeAnchor(row *Row) {
	list := append(f.Mark.Anchors, Anchor{row.ID, shortHash(row.Key)})
	slices.SortFunc(list, func(a, b Anchor) int {
		switch {
		case a.ID < b.ID:
			return -1
		case a.ID > b.ID:
			return 1
		}
		return 0
	})
	if len(list) > oldestAnchors+newestAnchors {
		list = slices.Delete(list, oldestAnchors, oldestAnchors+1)
	}
	f.Mark.Anchors = list
}

// recheckWindow brings the rows of the last weeks that are not as they were.
func (f *Follower) recheckWindow(ctx context.Context) error {
	ids, err := f.recentRowNumbers(ctx)
	if err != nil {
		return err
	}
	next := max(f.Mark.From, windowStart(f.Now))
	now, later := make([]byte, 4*checksumBuckets), make([]byte, 4*checksumBuckets)
	err = f.eachBatch(ctx, ids, func(rows []*Row) error {
		for _, row := range rows {
			if row.isWithin(f.Mark.From) {
				toggleChecksum(now, row)
			}
			if row.isWithin(next) {
				toggleChecksum(later, row)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	changed := map[int][]int64{}
	for _, id := range ids {
		if bucket := checksumBucket(id); string(bucketChecksum(now, bucket)) != string(bucketChecksum(f.Mark.Sums, bucket)) {
			changed[bucket] = append(changed[bucket], id)
		}
	}
	for _, bucket := range slices.Sorted(maps.Keys(changed)) {
		err := f.eachBatch(ctx, changed[bucket], func(rows []*Row) error {
			for _, row := range rows {
				f.Bring(*row)
			}
			return nil
		})
		if err != nil {
			return err
		}
		// the mark never speaks for less than was brought
		copy(bucketChecksum(f.Mark.Sums, bucket), bucketChecksum(now, bucket))
		if err := f.Place(ctx); err != nil {
			return err
		}
	}
	f.Mark.Sums, f.Mark.From = later, next
	return f.Place(ctx)
}

// recentRowNumbers are the numbers of the window's rows that were brought before.
func (f *Follower) recentRowNumbers(ctx context.Context) ([]int64, error) {
	condition, args := f.Table.Recent(time.Unix(f.Mark.From, 0))
	rows, err := f.DB.QueryContext(ctx,
		fmt.Sprintf("SELECT t.%s FROM %s t WHERE t.%s >= ? AND t.%s <= ? AND (%s) ORDER BY t.%s",
			f.Table.ID, f.Table.Name, f.Table.ID, f.Table.ID, condition, f.Table.ID),
		append([]any{f.Mark.Low, f.Mark.High}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("list rows of %s: %w", f.Table.Name, err)
	}
	defer rows.Close()
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("list rows of %s: %w", f.Table.Name, err)
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

func (f *Follower) eachBatch(ctx context.Context, ids []int64, take func([]*Row) error) error {
	for piece := range slices.Chunk(ids, rowsPerQuery) {
		args := make([]any, len(piece))
		for i, id := range piece {
			args[i] = id
		}
		rows, err := f.readRows(ctx, fmt.Sprintf("t.%s IN (%s) ORDER BY t.%s", f.Table.ID, placeholders(len(piece)),
			f.Table.ID),
			args...)
		if err != nil {
			return err
		}
		if err := take(rows); err != nil {
			return err
		}
	}
	return nil
}

func checksumBucket(id int64) int { return int(uint64(id) % checksumBuckets) }

func bucketChecksum(sums []byte, bucket int) []byte { return sums[4*bucket : 4*bucket+4] }

// toggleChecksum adds the content of a row to the checksum of its bucket, or removes it.
func toggleChecksum(sums []byte, row *Row) {
	text, err := json.Marshal(row.Records, json.Deterministic(true))
	if err != nil {
		return // what cannot be encoded is not brought either
	}
	sum := sha256.Sum256(fmt.Appendf(text, "%d %s", row.ID, row.Missing))
	at := bucketChecksum(sums, checksumBucket(row.ID))
	binary.LittleEndian.PutUint32(at, binary.LittleEndian.Uint32(at)^binary.LittleEndian.Uint32(sum[:]))
}

func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

func placeholders(n int) string { return strings.TrimSuffix(strings.Repeat("?,", n), ",") }
