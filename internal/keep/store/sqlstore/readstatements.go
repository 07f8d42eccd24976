package sqlstore

import (
	"context"
	"database/sql"
	"sync"
)

// readStatements keeps the statements of Evidence prepared, for drivers that
// have no statement cache of their own: reading a page is often quicker than
// planning how. See Config.PrepareHot.
type readStatements struct {
	wanted bool
	mu     sync.Mutex
	tried  [2]bool  // for a range of connections, for named ones
	known  sync.Map // text of the statement -> *sql.Stmt
}

// prepareEvidence prepares what a page needs, once. It comes before the page's
// transaction, and a transaction under way never waits for it: it may itself be
// waiting for the connection of that transaction. A statement that cannot be
// prepared is left to fail where its failure counts.
func (db *DB) prepareEvidence(ctx context.Context, named bool) {
	r := &db.reads
	if !r.wanted {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	in := &within{db: db}
	tried := &r.tried[number(named)]
	if *tried {
		return
	}
	if named {
		in.named = "" // the text does not depend on the list
	}
	for _, f := range families {
		for _, s := range f.statements {
			text, _ := in.start(s)
			if stmt, err := db.reader.PrepareContext(ctx, db.dialect.Rebind(text)); err == nil {
				if earlier, twice := r.known.Swap(text, stmt); twice {
					earlier.(*sql.Stmt).Close()
				}
			}
		}
	}
	*tried = ctx.Err() == nil
}

// get gives nil for a statement that is not prepared.
func (r *readStatements) get(text string) *sql.Stmt {
	stmt, _ := r.known.Load(text)
	prepared, _ := stmt.(*sql.Stmt)
	return prepared
}

func (r *readStatements) close() {
	r.known.Range(func(_, stmt any) bool {
		stmt.(*sql.Stmt).Close()
		return true
	})
}
