package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/slice"
)

const (
	// changedQuery gives the rows of a range of sequence numbers as they are and as they were.
	changedQuery = `SELECT CASE WHEN r.data IS NULL THEN 0 ELSE 1 END, r.semantic_time, coalesce(octet_length(r.data), 0),
			CASE WHEN h.data IS NULL THEN 0 ELSE 1 END, coalesce(h.semantic_time, ''), coalesce(octet_length(h.data), 0), coalesce(h.seq, 0)
		FROM records r LEFT JOIN record_history h ON h.record_id = r.id AND h.version = r.version - 1
		WHERE r.stream_id = ? AND r.seq > ? AND r.seq <= ?`
	countedQuery = `UPDATE streams SET live_records = live_records + ?, deleted_records = deleted_records + ?, changed_at = ? WHERE stream_id = ?`
)

// amount is a number of records and the bytes of their data.
type amount struct{ records, bytes int64 }

// tally is by how much the counts of days change.
type tally map[string]amount

func (t tally) add(semanticTime string, records, bytes int64) {
	day := dayOf(semanticTime)
	a := t[day]
	t[day] = amount{a.records + records, a.bytes + bytes}
}

// dayOf is the day of a time as it is kept; empty outside the years that store.Counts names.
func dayOf(semanticTime string) string {
	const day = len("2006-01-02")
	if len(semanticTime) < day || semanticTime < "1900" || semanticTime >= "2200" {
		return ""
	}
	return semanticTime[:day]
}

// monthOf is the month of a day.
func monthOf(day string) string { return day[:min(len(day), len("2006-01"))] }

// countRecords keeps the stream's counts exact after a batch that was written under the numbers
// after base: of live records and tombstones, and of live records by day. Where all rows are new
// the batch itself tells; otherwise each row is held against what it was. A row counts by day from
// when it is in step on; what was counted of it before is taken back.
func (t *tx) countRecords(h held, s stream, base int64, wrote Upserted, records []slice.Record, pick []int) error {
	if wrote.Changed > 0 {
		grown, days, err := t.grownBy(s, base, wrote, records, pick)
		if err != nil {
			return err
		}
		if _, err := t.exec(countedQuery, grown, wrote.Added-grown, h.now, s.id); err != nil {
			return err
		}
		if err := t.addCounts(s, days); err != nil {
			return err
		}
	}
	return t.countUpTo(s, countRows)
}

// grownBy is by how many live records a batch made the stream grow, and by how many on each day.
func (t *tx) grownBy(s stream, base int64, wrote Upserted, records []slice.Record, pick []int) (grown int64, days tally, err error) {
	days = tally{}
	counted, inStep := s.countSeq, s.countSeq == s.lastSeq
	if inStep {
		counted = base
	}
	if wrote.Added == int64(len(pick)) {
		for _, i := range pick {
			if r := &records[i]; !r.Deleted() {
				grown++
				if inStep {
					days.add(r.SemanticTime, 1, int64(len(r.Data)))
				}
			}
		}
		return grown, days, nil
	}
	rows, err := t.rows(changedQuery, s.id, base, s.lastSeq)
	if err != nil {
		return 0, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var is, was, bytes, hadBytes, hadSeq int64
		var at, wasAt string
		if err := rows.Scan(&is, &at, &bytes, &was, &wasAt, &hadBytes, &hadSeq); err != nil {
			return 0, nil, err
		}
		grown += is - was
		if is == 1 && inStep {
			days.add(at, 1, bytes)
		}
		if was == 1 && hadSeq <= counted {
			days.add(wasAt, -1, -hadBytes)
		}
	}
	return grown, days, rows.Err()
}

// countRows bounds the rows that one transaction counts of a stream from before.
const countRows = 5000

// countUpTo counts a bounded part of the rows of a stream that are not counted yet, in the order
// of their numbers. A row that changes meanwhile gets a higher number, so that it is met later.
func (t *tx) countUpTo(s stream, most int) error {
	if s.countSeq >= s.lastSeq {
		return nil
	}
	days := tally{}
	last, met := s.lastSeq, 0
	err := eachRow(t.ctx, t.db, t, `SELECT seq, semantic_time, CASE WHEN data IS NULL THEN 0 ELSE 1 END, coalesce(octet_length(data), 0)
		FROM records WHERE stream_id = ? AND seq > ? ORDER BY seq LIMIT ?`, []any{s.id, s.countSeq, most}, func(row scanner) (bool, error) {
		var seq, live, bytes int64
		var at string
		if err := row.Scan(&seq, &at, &live, &bytes); err != nil {
			return false, err
		}
		if live == 1 {
			days.add(at, 1, bytes)
		}
		if met++; met == most {
			last = seq
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	if err := t.addCounts(s, days); err != nil {
		return err
	}
	_, err = t.exec(`UPDATE streams SET count_seq = ? WHERE stream_id = ?`, last, s.id)
	return err
}

// addCounts changes the counts of a stream's days and of their months. What comes to nothing
// leaves no row, so that the first day of a stream is one with records.
func (t *tx) addCounts(s stream, days tally) error {
	months := tally{}
	for day, a := range days {
		m := months[monthOf(day)]
		months[monthOf(day)] = amount{m.records + a.records, m.bytes + a.bytes}
	}
	if err := t.addPeriods("day_counts", "day", s, days); err != nil {
		return err
	}
	return t.addPeriods("month_counts", "month", s, months)
}

func (t *tx) addPeriods(table, period string, s stream, by tally) error {
	var rows [][]any
	var fewer []string
	for _, p := range slices.Sorted(maps.Keys(by)) {
		if a := by[p]; a != (amount{}) {
			rows = append(rows, []any{p, a.records, a.bytes})
			if a.records < 0 {
				fewer = append(fewer, p)
			}
		}
	}
	if len(rows) == 0 {
		return nil
	}
	list, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	if _, err := t.exec(addPeriods(t.db.dialect, table, period), s.id, string(list)); err != nil || len(fewer) == 0 {
		return err
	}
	among, err := t.db.dialect.List(fewer)
	if err != nil {
		return err
	}
	_, err = t.exec(`DELETE FROM `+table+` WHERE stream_id = ? AND records = 0 AND `+t.db.dialect.Among(period), s.id, among)
	return err
}

// addPeriods is the statement that adds to the counts of a table.
func addPeriods(d Dialect, table, period string) string {
	return `INSERT INTO ` + table + ` (stream_id, ` + period + `, records, bytes)
		SELECT CAST(? AS bigint), v.value ->> 0, CAST(v.value ->> 1 AS bigint), CAST(v.value ->> 2 AS bigint) FROM ` + d.Elements() + ` AS v WHERE true
		ON CONFLICT (stream_id, ` + period + `) DO UPDATE SET records = ` + table + `.records + excluded.records, bytes = ` + table + `.bytes + excluded.bytes`
}

// streamDays are the days of each stream. SQLite takes the tables of a cross join in their order: a
// few days of every stream are found by their key, where it would look through the days of all time.
const streamDays = `streams s CROSS JOIN day_counts d`

// inStep is a condition that all rows of a stream are counted, each by the time that it declares.
const inStep = `s.count_seq >= s.last_seq AND s.time_seq >= s.last_seq`

func (db *DB) Kept(ctx context.Context, from, to string) (k store.Kept, err error) {
	// One snapshot, so that the days add up to what they are shown with.
	tx, err := db.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: db.dialect.Snapshot()})
	if err != nil {
		return k, db.dialect.Classify(err)
	}
	defer tx.Rollback()
	k.Streams, err = list(ctx, db, tx, func(row scanner) (s store.KeptStream, err error) {
		err = row.Scan(&s.ConnectionID, &s.Stream, &s.Records, &s.Deleted, intoTimePtr(&s.ChangedAt), &s.Counted, &s.Done, &s.Seen, &s.Undated, &s.Bytes, &s.First, &s.Last)
		return s, err
	}, `SELECT s.connection_id, s.name, s.live_records, s.deleted_records, s.changed_at,
			CASE WHEN `+inStep+` THEN 1 ELSE 0 END,
			CASE WHEN s.count_seq < s.time_seq THEN s.count_seq ELSE s.time_seq END, s.last_seq,
			coalesce((SELECT u.records FROM day_counts u WHERE u.stream_id = s.stream_id AND u.day = ''), 0),
			coalesce((SELECT CAST(sum(m.bytes) AS bigint) FROM month_counts m WHERE m.stream_id = s.stream_id), 0),
			coalesce((SELECT min(d.day) FROM day_counts d WHERE d.stream_id = s.stream_id AND d.day > ''), ''),
			coalesce((SELECT max(d.day) FROM day_counts d WHERE d.stream_id = s.stream_id AND d.day > ''), '')
		FROM streams s ORDER BY s.connection_id, s.name`)
	if err != nil {
		return k, err
	}
	k.Months, err = list(ctx, db, tx, func(row scanner) (m store.MonthCount, err error) {
		err = row.Scan(&m.ConnectionID, &m.Month, &m.Records)
		return m, err
	}, `SELECT s.connection_id, m.month, CAST(sum(m.records) AS bigint) FROM streams s CROSS JOIN month_counts m
		WHERE m.stream_id = s.stream_id AND m.month > '' AND `+inStep+` GROUP BY s.connection_id, m.month`)
	if err != nil {
		return k, err
	}
	// There are as many rows as months, or days, and streams: only their sums are put into order.
	slices.SortFunc(k.Months, func(a, b store.MonthCount) int {
		return cmp.Or(strings.Compare(a.ConnectionID, b.ConnectionID), strings.Compare(a.Month, b.Month))
	})
	k.Days, err = list(ctx, db, tx, func(row scanner) (d store.DayCount, err error) {
		err = row.Scan(&d.Day, &d.Records)
		return d, err
	}, `SELECT d.day, CAST(sum(d.records) AS bigint) FROM day_counts d
		WHERE `+db.dialect.OneOf("d.stream_id", `SELECT s.stream_id FROM streams s WHERE `+inStep)+` AND d.day >= ? AND d.day <= ? GROUP BY d.day`, from, to)
	if err != nil {
		return k, err
	}
	slices.SortFunc(k.Days, func(a, b store.DayCount) int { return strings.Compare(a.Day, b.Day) })
	k.Last, err = list(ctx, db, tx, func(row scanner) (d store.DayCount, err error) {
		err = row.Scan(&d.ConnectionID, &d.Day, &d.Records)
		return d, err
	}, `SELECT s.connection_id, d.day, CAST(sum(d.records) AS bigint) FROM `+streamDays+`
		WHERE d.stream_id = s.stream_id AND d.day = ? AND `+inStep+` GROUP BY s.connection_id, d.day ORDER BY s.connection_id`, to)
	return k, err
}

func (db *DB) DayCounts(ctx context.Context, q store.DayQuery) ([]store.DayCount, error) {
	var of filter
	of.is("s.connection_id", q.ConnectionID)
	of.is("s.name", q.Stream)
	f := filter{slices.Clone(of.conditions), slices.Clone(of.args)}
	// SQLite seeks by one lower bound alone.
	f.add("d.stream_id = s.stream_id")
	if q.From != "" {
		f.add("d.day >= ?", q.From)
	} else {
		f.add("d.day > ''")
	}
	if q.To != "" {
		f.add("d.day <= ?", q.To)
	}
	texts, args := []string{`SELECT s.connection_id, s.name, d.day, d.records FROM ` + streamDays + f.where()}, f.args
	// Of each stream one day is found by its key.
	nearest := func(bound, order, day string) {
		if day != "" && q.Nearest {
			texts = append(texts, `SELECT n.connection_id, n.name, n.day, (SELECT d.records FROM day_counts d WHERE d.stream_id = n.stream_id AND d.day = n.day)
				FROM (SELECT s.stream_id, s.connection_id, s.name, (SELECT o.day FROM day_counts o WHERE o.stream_id = s.stream_id AND `+bound+` ORDER BY o.day`+order+` LIMIT 1) AS day
				FROM streams s`+of.where()+`) AS n WHERE n.day IS NOT NULL`)
			args = append(append(args, day), of.args...)
		}
	}
	nearest("o.day > '' AND o.day < ?", " DESC", q.From)
	nearest("o.day > ?", "", q.To)
	return list(ctx, db, db.readers(ctx), func(row scanner) (d store.DayCount, err error) {
		err = row.Scan(&d.ConnectionID, &d.Stream, &d.Day, &d.Records)
		return d, err
	}, strings.Join(texts, ` UNION ALL `)+` ORDER BY 3, 1, 2`, args...)
}
