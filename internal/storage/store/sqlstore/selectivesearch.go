package sqlstore

import (
	"context"
	"strings"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/sqldialect"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// A common word may have hundreds of thousands of matches outside the filters, and skipping them is slow. If the
// filters cover few records, it is faster to check each. Checking one costs about as much as skipping twenty.
const (
	maxFew    = 2_000
	askedOnce = 20
)

// isSmallSearch reports whether the filters cover few records, in absolute terms and as a fraction.
func (db *DB) isSmallSearch(ctx context.Context, parts []store.AccessFilter) (bool, error) {
	if len(parts) == 0 {
		return false, nil
	}
	inParts := strings.TrimSuffix(strings.Repeat(`(`+inFilterCondition+`) OR `, len(parts)), ` OR `)
	var args []any
	named := int64(0)
	for _, p := range parts {
		if p.Keys != nil {
			named += int64(len(p.Keys))
			p.ConnectionID = "" // counted by its keys, not by its stream
		}
		args = append(args, inFilterArgs(p)...)
	}
	var all, members int64
	err := db.row(ctx, `SELECT coalesce(sum(s.live_records), 0), coalesce(sum(CASE WHEN `+inParts+` THEN s.live_records
		ELSE 0 END), 0)
		FROM streams s`, args...).Scan(&all, &members)
	members += named
	return members <= maxFew && members*askedOnce <= all, db.dialect.ClassifyError(err)
}

// smallSearchRecords returns the table of the records below an id in the streams and keys of the filters.
func (db *DB) smallSearchRecords(parts []store.AccessFilter, below int64) (m sqldialect.SearchMatch, err error) {
	const selects = `SELECT r.id AS record_id FROM streams s JOIN records r ON r.stream_id = s.stream_id WHERE ` +
		inFilterCondition
	var named, whole []string // in this order, so that there are few statements
	var namedArgs, wholeArgs []any
	for _, p := range parts {
		if p.Keys == nil {
			whole, wholeArgs = append(whole, selects), append(wholeArgs, inFilterArgs(p)...)
			continue
		}
		keys, err := db.dialect.ListArgument(onlyStorable(p.Keys))
		if err != nil {
			return m, err
		}
		named = append(named, selects+` AND `+db.dialect.InList("r.record_key"))
		namedArgs = append(append(namedArgs, inFilterArgs(p)...), keys)
	}
	m.Table = `(SELECT u.record_id FROM (` + strings.Join(append(named, whole...), ` UNION `) +
		`) AS u WHERE u.record_id < ?)`
	m.Args = append(append(namedArgs, wholeArgs...), below)
	return m, nil
}
