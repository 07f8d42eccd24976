package sqlstore

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// Evidence reads a page in one snapshot. A statement that fails may leave its
// transaction unusable, so the page is then read anew: readers of a sound store
// pay nothing for it, and what comes out is of one moment either way. It is read
// without the family of that statement once that has failed twice: the first
// time the connection may have been lost, which says nothing about the family.
func (db *DB) Evidence(ctx context.Context, q evidence.Query) ([]evidence.Evidence, error) {
	failures := make(map[int]int)
	for {
		p, failed, err := db.readEvidence(ctx, q, failures)
		if err == nil {
			return p.list, nil
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("read evidence: %w", ctx.Err())
		}
		if failed < 0 {
			return nil, fmt.Errorf("read evidence: %w", db.dialect.Classify(err))
		}
		failures[failed]++
	}
}

// family is a group of facts that is read together: all of it, or none.
type family struct {
	name       evidence.Family // empty when its absence shows by itself
	statements []statement
}

// statement reads one part of a family for a whole page.
type statement struct {
	text func(in *within) string
	read func(p *page, rows *sql.Rows) error
}

// families are all but the connections themselves, in the order of evidence.Families.
var families = []family{
	{evidence.FamilyManifest, []statement{{manifestsQuery, (*page).manifests}}},
	{evidence.FamilyRecords, []statement{{streamsQuery, (*page).streams}}},
	{"", []statement{{selectionsQuery, (*page).selections}}},
	{evidence.FamilyRuns, []statement{{endedRunsQuery, (*page).endedRuns}, {activeRunsQuery, (*page).activeRuns}}},
	{evidence.FamilySchedule, []statement{{schedulesQuery, (*page).schedules}, {backoffsQuery, (*page).backoffs}}},
	{"", []statement{{waitsQuery, (*page).waits}}},
	{evidence.FamilyCredential, []statement{{credentialsQuery, (*page).credentials}}},
	{evidence.FamilyProbes, []statement{{probesQuery, (*page).probes}}},
	{evidence.FamilyAttention, []statement{{attentionQuery, (*page).attention}}},
	{"", []statement{{openGapsQuery, (*page).openGaps}, {closedGapsQuery, (*page).closedGaps}}},
	{evidence.FamilyDevice, []statement{{deviceSourcesQuery, (*page).deviceSources}}},
	{"", []statement{{coverageStoresQuery, (*page).coverageStores}}},
}

// maxRoom bounds the room that is made before the size of a page is known.
const maxRoom = 10_000

// readEvidence reads a page without the families that have failed twice. When a
// family cannot be read it gives the number of that family, and -1 for anything else.
func (db *DB) readEvidence(ctx context.Context, q evidence.Query, failures map[int]int) (p *page, failed int, err error) {
	tx, err := db.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: db.dialect.Snapshot()})
	if err != nil {
		return nil, -1, err
	}
	defer tx.Rollback()
	p = &page{known: &db.declarations, size: min(limitOr(q.Limit, 100), maxRoom)}
	if q.ConnectionIDs != nil {
		p.size = min(len(q.ConnectionIDs), maxRoom)
	}
	in, err := db.within(q)
	if err != nil {
		return nil, -1, err
	}
	text, args := in.connectionsQuery(q.Limit)
	if err := db.each(ctx, tx, text, args, p.connections); err != nil || len(p.list) == 0 {
		return p, -1, err
	}
	if err := p.span(in); err != nil {
		return nil, -1, err
	}
	for i, f := range families {
		if f.name == evidence.FamilyManifest && p.declareKnown() {
			continue
		}
		if failures[i] > 1 {
			p.loseAll(f.name)
			continue
		}
		for _, s := range f.statements {
			text, args := in.start(s)
			if err := db.each(ctx, tx, text, args, func(rows *sql.Rows) error { return s.read(p, rows) }); err != nil {
				return nil, i, err
			}
		}
	}
	p.finish()
	return p, -1, nil
}

// each runs a query and hands over its rows.
func (db *DB) each(ctx context.Context, tx *sql.Tx, text string, args []any, read func(*sql.Rows) error) error {
	rows, err := tx.QueryContext(ctx, db.dialect.Rebind(text), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	if err := read(rows); err != nil {
		return err
	}
	return rows.Err()
}

// ReadEvidenceBare runs the statements of a page whose manifests are known,
// takes every column of every row from the driver, and builds nothing of it. It
// is the floor that the speed of Evidence is measured against.
func (db *DB) ReadEvidenceBare(ctx context.Context, q evidence.Query) (rows int, err error) {
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
