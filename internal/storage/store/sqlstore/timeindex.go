package sqlstore

import (
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/sqldialect"

	"github.com/pdpp-go/pdpp/protocol"
)

// timeIndex contains the live records of each stream ordered by semantic time, then id.
const timeIndex = "records_by_time"

// datedCondition is the condition of the partial index. A statement must repeat it to use the index.
const datedCondition = `deleted = 0 AND semantic_time <> ''`

var timeIndexChange = sqldialect.IndexChange{Make: timeIndex, Columns: "stream_id, semantic_time, id",
	Where: datedCondition}

// semanticTime formats a time as it is stored. Times outside the storable range sort before or after all others.
func semanticTime(at time.Time) string {
	switch at = at.UTC(); {
	case at.Year() < 1:
		return ""
	case at.Year() > 9999:
		return ":"
	}
	return at.Format(protocol.StoredTime)
}
