// Package sqlstore contains the SQL that SQLite and PostgreSQL share. A query is written once, with ? placeholders. A
// Dialect provides what differs: bulk upsert of records, the full-text index, row locks and driver errors.
//
// Every write of a run begins with tx.fence, which locks the connection's lease row and checks its generation, so
// that a run that was taken over changes nothing (invariant 1). A stream's sequence numbers come from its own row in
// the same transaction, so that commit order is sequence order.
package sqlstore
