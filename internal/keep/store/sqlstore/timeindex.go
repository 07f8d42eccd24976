package sqlstore

import (
	"time"

	"github.com/pdpp-go/pdpp/protocol"
)

// timeIndex has the live records of each stream in the order of the time that is kept beside
// their data, and of their ids where that is equal.
const timeIndex = "records_by_time"

// dated is the condition of the records that the index has. A statement that is to use it says
// the same.
const dated = `deleted = 0 AND semantic_time <> ''`

var byTime = IndexChange{Make: timeIndex, Columns: "stream_id, semantic_time, id", Where: dated}

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
