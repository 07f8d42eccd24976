// Package sqlstore holds the SQL that SQLite and PostgreSQL share. A query is
// written once, with ? placeholders; a Dialect carries what differs between the
// two: bulk upsert of records, the full-text index, row locks and the meaning
// of driver errors.
//
// Every write by a run begins with DB.fence, which locks the connection's lease
// row and checks its generation, so that a run that was taken over changes
// nothing (invariant 1). Streams get their sequence numbers from their own row
// inside the same transaction, so that commit order is sequence order.
package sqlstore
