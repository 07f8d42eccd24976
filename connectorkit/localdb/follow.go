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
	// Window is how long after its time a row may still change.
	Window = 30 * 24 * time.Hour

	usualPage  = 500
	fetchRows  = 200
	buckets    = 256
	oldAnchors = 2
	newAnchors = 6
)

// Table is one that grows at its end, and whose rows of the last weeks still change. In
// all of its parts of queries the table is called t.
type Table struct {
	Name string
	ID   string // column with the row's number
	Key  string // column with what identifies the row in every copy of the database
	// Largest is a query for the largest number that was ever given; that of the rows which
	// are there when empty. It tells a database that was put back from one of which rows
	// were deleted.
	Largest string
	// Select begins a query for rows, up to its conditions.
	Select string
	// Recent is the condition of rows of that time or later; their Row.At is the time that
	// it compares.
	Recent func(from time.Time) (condition string, args []any)
	// Row reads a row.
	Row func(*sql.Rows) (Row, error)
	// Complete adds to rows what other tables say. It may be nil.
	Complete func(context.Context, *sql.DB, []*Row) error
}

// Row is one row and what it says.
type Row struct {
	ID      int64
	Key     string
	At      time.Time // zero when it has none
	Records []Record
	// Missing says why a row cannot be read; empty when it can.
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
	// Whole says that nothing below Low is left.
	Whole bool `json:"whole,omitzero"`
	Begun bool `json:"begun,omitzero"`
	// From is where the window begins, in seconds, and Sums what its rows said when they
	// were brought, by bucket.
	From int64  `json:"from,omitzero"`
	Sums []byte `json:"sums,omitempty"`
	// Anchors are rows that tell whether the database is still the same.
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
	// Place is called where the mark stands for everything that was brought.
	Place func(context.Context) error
}

// Follow brings new rows, then those of the window that changed, then older ones, newest
// first. A database that is not the one of the mark is read from its beginning.
func (f *Follower) Follow(ctx context.Context) error {
	last, given, err := f.largest(ctx)
	if err != nil {
		return err
	}
	same, err := f.same(ctx, max(last, given))
	if err != nil {
		return err
	}
	if !same || !f.Mark.Begun {
		*f.Mark = Mark{Begun: true, High: last, Low: last + 1, From: windowStart(f.Now)}
	}
	if len(f.Mark.Sums) != 4*buckets {
		f.Mark.Sums = make([]byte, 4*buckets)
	}
	for f.Mark.High < last { // numbers beyond it may be given, and their rows still to come
		rows, err := f.rows(ctx, fmt.Sprintf("t.%s > ? AND t.%s <= ? ORDER BY t.%s LIMIT %d", f.Table.ID, f.Table.ID, f.Table.ID, f.page()), f.Mark.High, last)
		if err != nil {
			return err
		}
		f.bring(rows)
		if f.Mark.High = last; len(rows) == f.page() {
			f.Mark.High = rows[len(rows)-1].ID
		}
		if err := f.Place(ctx); err != nil {
			return err
		}
	}
	if err := f.window(ctx); err != nil {
		return err
	}
	for !f.Mark.Whole {
		rows, err := f.rows(ctx, fmt.Sprintf("t.%s < ? ORDER BY t.%s DESC LIMIT %d", f.Table.ID, f.Table.ID, f.page()), f.Mark.Low)
		if err != nil {
			return err
		}
		f.bring(rows)
		if len(rows) > 0 {
			f.Mark.Low = rows[len(rows)-1].ID
		}
		f.Mark.Whole = len(rows) < f.page()
		if err := f.Place(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (f *Follower) page() int { return cmp.Or(f.Page, usualPage) }

func windowStart(now time.Time) int64 {
	return now.UTC().Add(-Window).Truncate(24 * time.Hour).Unix()
}

// largest are the number of the last row, and the largest that was ever given.
func (f *Follower) largest(ctx context.Context) (last, given int64, err error) {
	var there, ever sql.NullInt64
	if err := f.DB.QueryRowContext(ctx, fmt.Sprintf("SELECT max(t.%s) FROM %s t", f.Table.ID, f.Table.Name)).Scan(&there); err != nil {
		return 0, 0, fmt.Errorf("find the last row of %s: %w", f.Table.Name, err)
	}
	if f.Table.Largest != "" {
		if err := f.DB.QueryRowContext(ctx, f.Table.Largest).Scan(&ever); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return 0, 0, fmt.Errorf("find the last number of %s: %w", f.Table.Name, err)
		}
	}
	return there.Int64, ever.Int64, nil
}

// same reports whether the database is the one that the mark is of: no number is smaller
// than it was, and the rows which are still there are the ones that were read.
func (f *Follower) same(ctx context.Context, largest int64) (bool, error) {
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
	rows, err := f.DB.QueryContext(ctx, fmt.Sprintf("SELECT t.%s, t.%s FROM %s t WHERE t.%s IN (%s)", f.Table.ID, f.Table.Key, f.Table.Name, f.Table.ID, marks(len(ids))), ids...)
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
		if !slices.Contains(f.Mark.Anchors, Anchor{id, shortHash(Text(key))}) {
			return false, nil
		}
	}
	return found > 0, rows.Err()
}

// rows reads rows under a condition.
func (f *Follower) rows(ctx context.Context, condition string, args ...any) ([]*Row, error) {
	list, err := f.scan(ctx, condition, args)
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

func (f *Follower) scan(ctx context.Context, condition string, args []any) ([]*Row, error) {
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

// bring hands over rows that were not brought before.
func (f *Follower) bring(rows []*Row) {
	for _, row := range rows {
		if row.within(f.Mark.From) {
			toggle(f.Mark.Sums, row)
		}
		f.Bring(*row)
		f.anchor(row)
	}
}

func (r *Row) within(from int64) bool { return !r.At.IsZero() && r.At.Unix() >= from }

// anchor keeps the first rows and the last.
func (f *Follower) anchor(row *Row) {
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
	if len(list) > oldAnchors+newAnchors {
		list = slices.Delete(list, oldAnchors, oldAnchors+1)
	}
	f.Mark.Anchors = list
}

// window brings the rows of the last weeks that are not as they were.
func (f *Follower) window(ctx context.Context) error {
	ids, err := f.recent(ctx)
	if err != nil {
		return err
	}
	next := max(f.Mark.From, windowStart(f.Now))
	now, later := make([]byte, 4*buckets), make([]byte, 4*buckets)
	err = f.each(ctx, ids, func(rows []*Row) error {
		for _, row := range rows {
			if row.within(f.Mark.From) {
				toggle(now, row)
			}
			if row.within(next) {
				toggle(later, row)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	changed := map[int][]int64{}
	for _, id := range ids {
		if bucket := bucketOf(id); string(sumOf(now, bucket)) != string(sumOf(f.Mark.Sums, bucket)) {
			changed[bucket] = append(changed[bucket], id)
		}
	}
	for _, bucket := range slices.Sorted(maps.Keys(changed)) {
		err := f.each(ctx, changed[bucket], func(rows []*Row) error {
			for _, row := range rows {
				f.Bring(*row)
			}
			return nil
		})
		if err != nil {
			return err
		}
		copy(sumOf(f.Mark.Sums, bucket), sumOf(now, bucket)) // the mark never speaks for less than was brought
		if err := f.Place(ctx); err != nil {
			return err
		}
	}
	f.Mark.Sums, f.Mark.From = later, next
	return f.Place(ctx)
}

// recent are the numbers of the window's rows that were brought before.
func (f *Follower) recent(ctx context.Context) ([]int64, error) {
	condition, args := f.Table.Recent(time.Unix(f.Mark.From, 0))
	rows, err := f.DB.QueryContext(ctx, fmt.Sprintf("SELECT t.%s FROM %s t WHERE t.%s >= ? AND t.%s <= ? AND (%s) ORDER BY t.%s",
		f.Table.ID, f.Table.Name, f.Table.ID, f.Table.ID, condition, f.Table.ID), append([]any{f.Mark.Low, f.Mark.High}, args...)...)
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

func (f *Follower) each(ctx context.Context, ids []int64, take func([]*Row) error) error {
	for piece := range slices.Chunk(ids, fetchRows) {
		args := make([]any, len(piece))
		for i, id := range piece {
			args[i] = id
		}
		rows, err := f.rows(ctx, fmt.Sprintf("t.%s IN (%s) ORDER BY t.%s", f.Table.ID, marks(len(piece)), f.Table.ID), args...)
		if err != nil {
			return err
		}
		if err := take(rows); err != nil {
			return err
		}
	}
	return nil
}

func bucketOf(id int64) int { return int(uint64(id) % buckets) }

func sumOf(sums []byte, bucket int) []byte { return sums[4*bucket : 4*bucket+4] }

// toggle takes what a row says into the sum of its bucket, or out of it.
func toggle(sums []byte, row *Row) {
	text, err := json.Marshal(row.Records, json.Deterministic(true))
	if err != nil {
		return // what cannot be encoded is not brought either
	}
	sum := sha256.Sum256(fmt.Appendf(text, "%d %s", row.ID, row.Missing))
	at := sumOf(sums, bucketOf(row.ID))
	binary.LittleEndian.PutUint32(at, binary.LittleEndian.Uint32(at)^binary.LittleEndian.Uint32(sum[:]))
}

func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

func marks(n int) string { return strings.TrimSuffix(strings.Repeat("?,", n), ",") }
