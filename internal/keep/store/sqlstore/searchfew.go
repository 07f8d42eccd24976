package sqlstore

import (
	"context"
	"strings"

	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// A common word may have hundreds of thousands of matches outside the parts, and
// passing them by is slow. Where the parts hold few records, it is quicker to ask
// of each whether it matches. To ask costs about as much as to pass by twenty.
const (
	maxFew    = 2_000
	askedOnce = 20
)

// areFew reports whether the parts hold few records, absolutely and of all there are.
func (db *DB) areFew(ctx context.Context, parts []store.Part) (bool, error) {
	if len(parts) == 0 {
		return false, nil
	}
	inParts := strings.TrimSuffix(strings.Repeat(`(`+inPart+`) OR `, len(parts)), ` OR `)
	var args []any
	named := int64(0)
	for _, p := range parts {
		if p.Keys != nil {
			named += int64(len(p.Keys))
			p.ConnectionID = "" // counted by its keys, and no stream's
		}
		args = append(args, inPartArgs(p)...)
	}
	var all, members int64
	err := db.row(ctx, `SELECT coalesce(sum(s.live_records), 0), coalesce(sum(CASE WHEN `+inParts+` THEN s.live_records ELSE 0 END), 0)
		FROM streams s`, args...).Scan(&all, &members)
	members += named
	return members <= maxFew && members*askedOnce <= all, db.dialect.Classify(err)
}

// members is the table of the records below an id that the streams and keys of the parts name.
func (db *DB) members(parts []store.Part, below int64) (m Matches, err error) {
	const selects = `SELECT r.id AS record_id FROM streams s JOIN records r ON r.stream_id = s.stream_id WHERE ` + inPart
	var named, whole []string // in this order, so that there are few statements
	var namedArgs, wholeArgs []any
	for _, p := range parts {
		if p.Keys == nil {
			whole, wholeArgs = append(whole, selects), append(wholeArgs, inPartArgs(p)...)
			continue
		}
		keys, err := db.dialect.List(storableOnly(p.Keys))
		if err != nil {
			return m, err
		}
		named = append(named, selects+` AND `+db.dialect.Among("r.record_key"))
		namedArgs = append(append(namedArgs, inPartArgs(p)...), keys)
	}
	m.Table = `(SELECT u.record_id FROM (` + strings.Join(append(named, whole...), ` UNION `) + `) AS u WHERE u.record_id < ?)`
	m.Args = append(append(namedArgs, wholeArgs...), below)
	return m, nil
}
