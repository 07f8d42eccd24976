package sqlstore

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// Evidence reads a page in one snapshot. A failed statement may make its transaction unusable, so the page is then
// read again from the start. A family is left out after its statement failed twice: the first failure may be a lost
// connection.
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
			return nil, fmt.Errorf("read evidence: %w", db.dialect.ClassifyError(err))
		}
		failures[failed]++
	}
}

// factFamily is a group of facts that is read completely or not at all.
type factFamily struct {
	name       evidence.Family // empty when its absence is visible in the result
	statements []familyStatement
}

// familyStatement reads one part of a family for a whole page.
type familyStatement struct {
	text func(in *pageScope) string
	read func(p *evidencePage, rows *sql.Rows) error
}

// factFamilies are all families except the connections, in the order of evidence.Families.
var factFamilies = []factFamily{
	{evidence.FamilyManifest, []familyStatement{{manifestsQuery, (*evidencePage).manifests}}},
	{evidence.FamilyRecords, []familyStatement{{streamsQuery, (*evidencePage).streams}}},
	{"", []familyStatement{{selectionsQuery, (*evidencePage).selections}}},
	{evidence.FamilyRuns, []familyStatement{{endedRunsQuery, (*evidencePage).endedRuns},
		{activeRunsQuery, (*evidencePage).activeRuns}}},
	{evidence.FamilySchedule, []familyStatement{{schedulesQuery, (*evidencePage).schedules},
		{backoffsQuery, (*evidencePage).backoffs}}},
	{"", []familyStatement{{waitsQuery, (*evidencePage).waits}}},
	{evidence.FamilyCredential, []familyStatement{{credentialsQuery, (*evidencePage).credentials}}},
	{evidence.FamilyProbes, []familyStatement{{probesQuery, (*evidencePage).probes}}},
	{evidence.FamilyAttention, []familyStatement{{attentionQuery, (*evidencePage).attention}}},
	{"", []familyStatement{{openGapsQuery, (*evidencePage).openGaps}, {closedGapsQuery, (*evidencePage).closedGaps}}},
	{evidence.FamilyDevice, []familyStatement{{deviceSourcesQuery, (*evidencePage).deviceSources}}},
	{"", []familyStatement{{coverageStoresQuery, (*evidencePage).coverageStores}}},
}

// maxPreallocation bounds what is allocated before the size of a page is known.
const maxPreallocation = 10_000

// readEvidence reads a page without the families that failed twice. On an error it returns the number of the failed
// family, or -1.
func (db *DB) readEvidence(
	ctx context.Context, q evidence.Query, failures map[int]int,
) (p *evidencePage, failed int, err error) {
	tx, err := db.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: db.dialect.SnapshotLevel()})
	if err != nil {
		return nil, -1, err
	}
	defer tx.Rollback()
	p = &evidencePage{known: &db.declarations, size: min(limitOrDefault(q.Limit, 100), maxPreallocation)}
	if q.ConnectionIDs != nil {
		p.size = min(len(q.ConnectionIDs), maxPreallocation)
	}
	in, err := db.newPageScope(q)
	if err != nil {
		return nil, -1, err
	}
	text, args := in.connectionsQuery(q.Limit)
	if err := db.eachSQLRow(ctx, tx, text, args, p.connections); err != nil || len(p.list) == 0 {
		return p, -1, err
	}
	if err := p.setRange(in); err != nil {
		return nil, -1, err
	}
	for i, f := range factFamilies {
		if f.name == evidence.FamilyManifest && p.declareKnown() {
			continue
		}
		if failures[i] > 1 {
			p.markAllUnreadable(f.name)
			continue
		}
		for _, s := range f.statements {
			text, args := in.bind(s)
			if err := db.eachSQLRow(ctx, tx, text, args, func(rows *sql.Rows) error { return s.read(p, rows) }); err != nil {
				return nil, i, err
			}
		}
	}
	p.finish()
	return p, -1, nil
}

// eachSQLRow runs a query and calls read with its rows.
func (db *DB) eachSQLRow(ctx context.Context, tx *sql.Tx, text string, args []any, read func(*sql.Rows) error) error {
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

// ReadEvidenceBare runs the statements of a page and reads every column, but builds nothing. It is the lower bound in
// measurements of Evidence.
func (db *DB) ReadEvidenceBare(ctx context.Context, q evidence.Query) (rows int, err error) {
	tx, err := db.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: db.dialect.SnapshotLevel()})
	if err != nil {
		return 0, db.dialect.ClassifyError(err)
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
	in, err := db.newPageScope(q)
	if err != nil {
		return 0, err
	}
	text, args := in.connectionsQuery(q.Limit)
	if err := db.eachSQLRow(ctx, tx, text, args, take); err != nil || rows == 0 {
		return rows, db.dialect.ClassifyError(err)
	}
	in.last = last
	for _, f := range factFamilies {
		for _, s := range f.statements {
			if f.name == evidence.FamilyManifest {
				continue
			}
			text, args := in.bind(s)
			if err := db.eachSQLRow(ctx, tx, text, args, take); err != nil {
				return rows, db.dialect.ClassifyError(err)
			}
		}
	}
	return rows, nil
}
