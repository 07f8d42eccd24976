package sqlstore

import (
	"context"
	"database/sql"
	"time"

	"pdpp/protocol"
)

// timeIndex has the live records of each stream in the order of the time that is kept beside
// their data, and of their ids where that is equal.
const timeIndex = "records_by_time"

// dated is the condition of the records that the index has. A statement that is to use it says
// the same.
const dated = `deleted = 0 AND semantic_time <> ''`

var byTime = IndexChange{Make: timeIndex, Columns: "stream_id, semantic_time, id", Where: dated}

// finish makes what takes no time in a store without records: the index of times, and what the
// database gives to a new store. One with records gets the index by IndexFields, while others read
// and write.
func (s Schema) finish(ctx context.Context, db *sql.DB) error {
	tx, err := s.begin(ctx, db)
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after Commit
	var filled bool
	if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM records)`).Scan(&filled); err != nil || filled {
		return err
	}
	if _, err := tx.ExecContext(ctx, `CREATE INDEX IF NOT EXISTS `+timeIndex+` ON records (`+byTime.Columns+`) WHERE `+dated); err != nil {
		return err
	}
	if s.Empty != nil {
		if err := s.Empty(ctx, tx); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// semanticTime is a time as it is kept beside the data. What is before the first or after the last
// time that can be kept sorts before or after all of them.
func semanticTime(at time.Time) string {
	switch at = at.UTC(); {
	case at.Year() < 1:
		return ""
	case at.Year() > 9999:
		return ":"
	}
	return at.Format(protocol.StoredTime)
}
