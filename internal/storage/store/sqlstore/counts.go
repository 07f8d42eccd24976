package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/sqldialect"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

const (
	// changedQuery selects the rows of a range of sequence numbers with their previous versions.
	changedQuery = `SELECT CASE WHEN r.data IS NULL THEN 0 ELSE 1 END, r.semantic_time, coalesce(octet_length(r.data), 0),
			CASE WHEN h.data IS NULL THEN 0 ELSE 1 END, coalesce(h.semantic_time, ''), coalesce(octet_length(h.data), 0),
			coalesce(h.seq, 0)
		FROM records r LEFT JOIN record_history h ON h.record_id = r.id AND h.version = r.version - 1
		WHERE r.stream_id = ? AND r.seq > ? AND r.seq <= ?`
	countedQuery = `UPDATE streams SET live_records = live_records + ?, deleted_records = deleted_records + ?,
		changed_at = ? WHERE stream_id = ?`
)

// recordAmount is a number of records and the bytes of their data.
type recordAmount struct{ records, bytes int64 }

// dayTally is the change of the counts per day.
type dayTally map[string]recordAmount

func (t dayTally) add(semanticTime string, records, bytes int64) {
	day := dayOfTime(semanticTime)
	a := t[day]
	t[day] = recordAmount{a.records + records, a.bytes + bytes}
}

// dayOfTime returns the day of a stored time, or "" outside the years of store.Counts.
func dayOfTime(semanticTime string) string {
	const day = len("2006-01-02")
	if len(semanticTime) < day || semanticTime < "1900" || semanticTime >= "2200" {
		return ""
	}
	return semanticTime[:day]
}

// monthOfDay returns the month of a day.
func monthOfDay(day string) string { return day[:min(len(day), len("2006-01"))] }

// countRecords updates the stream's counts after a batch with sequence numbers above base: live records, tombstones,
// and live records by day. If all rows are new, the batch is enough; otherwise each row is compared with its previous
// version. Counts by day include only rows that BackfillDerived has reached.
func (t *tx) countRecords(
	h heldLease, s streamRow, base int64, wrote sqldialect.UpsertCounts, records []slice.Record, pick []int,
) error {
	if wrote.Changed > 0 {
		grown, days, err := t.countChanges(s, base, wrote, records, pick)
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
	return t.countPending(s, countRowLimit)
}

// countChanges returns by how many live records a batch changed the stream, in all and per day.
func (t *tx) countChanges(
	s streamRow, base int64, wrote sqldialect.UpsertCounts, records []slice.Record, pick []int,
) (grown int64, days dayTally, err error) {
	days = dayTally{}
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

// countRowLimit is how many earlier rows one transaction counts.
const countRowLimit = 5000

// countPending counts the next uncounted rows of a stream, in the order of their sequence. A row that changes
// meanwhile gets a higher number and is counted later.
func (t *tx) countPending(s streamRow, most int) error {
	if s.countSeq >= s.lastSeq {
		return nil
	}
	days := dayTally{}
	last, met := s.lastSeq, 0
	err := eachRow(t.ctx, t.db, t, `SELECT seq, semantic_time, CASE WHEN data IS NULL THEN 0
		ELSE 1 END, coalesce(octet_length(data), 0)
		FROM records WHERE stream_id = ? AND seq > ? ORDER BY seq LIMIT ?`, []any{s.id, s.countSeq, most},
		func(row scanner) (bool, error) {
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

// addCounts changes the counts of a stream's days and months. Counts of zero are deleted, so that a stream's first
// day always has records.
func (t *tx) addCounts(s streamRow, days dayTally) error {
	months := dayTally{}
	for day, a := range days {
		m := months[monthOfDay(day)]
		months[monthOfDay(day)] = recordAmount{m.records + a.records, m.bytes + a.bytes}
	}
	if err := t.addPeriods("day_counts", "day", s, days); err != nil {
		return err
	}
	return t.addPeriods("month_counts", "month", s, months)
}

func (t *tx) addPeriods(table, period string, s streamRow, by dayTally) error {
	var rows [][]any
	var fewer []string
	for _, p := range slices.Sorted(maps.Keys(by)) {
		if a := by[p]; a != (recordAmount{}) {
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
	among, err := t.db.dialect.ListArgument(fewer)
	if err != nil {
		return err
	}
	_, err = t.exec(`DELETE FROM `+table+` WHERE stream_id = ? AND records = 0 AND `+t.db.dialect.InList(period), s.id,
		among)
	return err
}

// addPeriods returns the statement that adds to the counts of a table.
func addPeriods(d sqldialect.Dialect, table, period string) string {
	return `INSERT INTO ` + table + ` (stream_id, ` + period + `, records, bytes)
		SELECT CAST(? AS bigint), v.value ->> 0, CAST(v.value ->> 1 AS bigint), CAST(v.value ->> 2 AS bigint)
		FROM ` + d.ArrayTable() + ` AS v WHERE true
		ON CONFLICT (stream_id, ` + period + `) DO UPDATE SET records = ` + table + `.records + excluded.records, bytes = ` +
		table + `.bytes + excluded.bytes`
}

// streamDayTables joins streams with their days. SQLite reads the tables of a CROSS JOIN in order: it finds a few
// days of every stream by key, instead of scanning all days.
const streamDayTables = `streams s CROSS JOIN day_counts d`

// fullyCounted is the condition that all rows of a stream are counted by its declared time.
const fullyCounted = `s.count_seq >= s.last_seq AND s.time_seq >= s.last_seq`

func (db *DB) StoredSummary(ctx context.Context, from, to string) (k store.StoredSummary, err error) {
	// One snapshot, so that the sums agree.
	tx, err := db.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: db.dialect.SnapshotLevel()})
	if err != nil {
		return k, db.dialect.ClassifyError(err)
	}
	defer tx.Rollback()
	k.Streams, err = listRows(ctx, db, tx, func(row scanner) (s store.StoredStream, err error) {
		err = row.Scan(&s.ConnectionID, &s.Stream, &s.Records, &s.Deleted, intoTimePtr(&s.ChangedAt), &s.Counted, &s.Done,
			&s.Seen, &s.Undated, &s.Bytes, &s.First, &s.Last)
		return s, err
	}, `SELECT s.connection_id, s.name, s.live_records, s.deleted_records, s.changed_at,
			CASE WHEN `+fullyCounted+` THEN 1 ELSE 0 END,
			CASE WHEN s.count_seq < s.time_seq THEN s.count_seq ELSE s.time_seq END, s.last_seq,
			coalesce((SELECT u.records FROM day_counts u WHERE u.stream_id = s.stream_id AND u.day = ''), 0),
			coalesce((SELECT CAST(sum(m.bytes) AS bigint) FROM month_counts m WHERE m.stream_id = s.stream_id), 0),
			coalesce((SELECT min(d.day) FROM day_counts d WHERE d.stream_id = s.stream_id AND d.day > ''), ''),
			coalesce((SELECT max(d.day) FROM day_counts d WHERE d.stream_id = s.stream_id AND d.day > ''), '')
		FROM streams s ORDER BY s.connection_id, s.name`)
	if err != nil {
		return k, err
	}
	k.Months, err = listRows(ctx, db, tx, func(row scanner) (m store.MonthCount, err error) {
		err = row.Scan(&m.ConnectionID, &m.Month, &m.Records)
		return m, err
	}, `SELECT s.connection_id, m.month, CAST(sum(m.records) AS bigint) FROM streams s CROSS JOIN month_counts m
		WHERE m.stream_id = s.stream_id AND m.month > '' AND `+fullyCounted+` GROUP BY s.connection_id, m.month`)
	if err != nil {
		return k, err
	}
	// There are as many rows as months or days times streams; only their sums are sorted.
	slices.SortFunc(k.Months, func(a, b store.MonthCount) int {
		return cmp.Or(strings.Compare(a.ConnectionID, b.ConnectionID), strings.Compare(a.Month, b.Month))
	})
	k.Days, err = listRows(ctx, db, tx, func(row scanner) (d store.DayCount, err error) {
		err = row.Scan(&d.Day, &d.Records)
		return d, err
	}, `SELECT d.day, CAST(sum(d.records) AS bigint) FROM day_counts d
		WHERE `+db.dialect.InSubquery("d.stream_id", `SELECT s.stream_id FROM streams s WHERE `+fullyCounted)+` AND d.day >= ?
		AND d.day <= ? GROUP BY d.day`, from, to)
	if err != nil {
		return k, err
	}
	slices.SortFunc(k.Days, func(a, b store.DayCount) int { return strings.Compare(a.Day, b.Day) })
	k.Last, err = listRows(ctx, db, tx, func(row scanner) (d store.DayCount, err error) {
		err = row.Scan(&d.ConnectionID, &d.Day, &d.Records)
		return d, err
	}, `SELECT s.connection_id, d.day, CAST(sum(d.records) AS bigint) FROM `+streamDayTables+`
		WHERE d.stream_id = s.stream_id AND d.day = ?
		AND `+fullyCounted+` GROUP BY s.connection_id, d.day ORDER BY s.connection_id`, to)
	return k, err
}

func (db *DB) DayCounts(ctx context.Context, q store.DayQuery) ([]store.DayCount, error) {
	var of sqlFilter
	of.addEqual("s.connection_id", q.ConnectionID)
	of.addEqual("s.name", q.Stream)
	f := sqlFilter{slices.Clone(of.conditions), slices.Clone(of.args)}
	// SQLite seeks by only one lower limit.
	f.addCondition("d.stream_id = s.stream_id")
	if q.From != "" {
		f.addCondition("d.day >= ?", q.From)
	} else {
		f.addCondition("d.day > ''")
	}
	if q.To != "" {
		f.addCondition("d.day <= ?", q.To)
	}
	texts, args := []string{`SELECT s.connection_id, s.name, d.day, d.records FROM ` + streamDayTables + f.whereClause()},
		f.args
	// One day of each stream is found by its key.
	nearest := func(bound, order, day string) {
		if day != "" && q.Nearest {
			texts = append(texts, `SELECT n.connection_id, n.name, n.day, (SELECT d.records FROM day_counts d
				WHERE d.stream_id = n.stream_id AND d.day = n.day)
				FROM (SELECT s.stream_id, s.connection_id, s.name, (SELECT o.day FROM day_counts o WHERE o.stream_id = s.stream_id
				AND `+bound+` ORDER BY o.day`+order+` LIMIT 1) AS day
				FROM streams s`+of.whereClause()+`) AS n WHERE n.day IS NOT NULL`)
			args = append(append(args, day), of.args...)
		}
	}
	nearest("o.day > '' AND o.day < ?", " DESC", q.From)
	nearest("o.day > ?", "", q.To)
	return listRows(ctx, db, db.readers(ctx), func(row scanner) (d store.DayCount, err error) {
		err = row.Scan(&d.ConnectionID, &d.Stream, &d.Day, &d.Records)
		return d, err
	}, strings.Join(texts, ` UNION ALL `)+` ORDER BY 3, 1, 2`, args...)
}
