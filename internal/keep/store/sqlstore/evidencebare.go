package sqlstore

import (
	"context"
	"database/sql"

	"pdpp/internal/judge/evidence"
)

// ReadEvidenceBare runs the statements of a page whose manifests are known,
// takes every column of every row from the driver, and builds nothing of it. It
// is the floor that the speed of Evidence is measured against.
func (db *DB) ReadEvidenceBare(ctx context.Context, q evidence.Query) (rows int, err error) {
	db.prepareEvidence(ctx, q.ConnectionIDs != nil)
	tx, err := db.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: db.dialect.Snapshot()})
	if err != nil {
		return 0, db.dialect.Classify(err)
	}
	defer tx.Rollback()
	var last string
	take := func(r *sql.Rows) error {
		columns, err := r.Columns()
		if err != nil {
			return err
		}
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		for r.Next() {
			if err := r.Scan(into...); err != nil {
				return err
			}
			rows++
		}
		last, _ = values[0].(string)
		return nil
	}
	in, err := db.within(q)
	if err != nil {
		return 0, err
	}
	text, args := in.connectionsQuery(q.Limit)
	if err := db.each(ctx, tx, text, args, take); err != nil || rows == 0 {
		return rows, db.dialect.Classify(err)
	}
	in.last = last
	for _, f := range families {
		for _, s := range f.statements {
			if f.name == evidence.FamilyManifest {
				continue
			}
			text, args := in.start(s)
			if err := db.each(ctx, tx, text, args, take); err != nil {
				return rows, db.dialect.Classify(err)
			}
		}
	}
	return rows, nil
}
