package store

import "time"

// ByTimeQuery requests one page of the live records that match a filter, ordered by the time in a field, then by the
// order of storing. Records without a time are left out.
type ByTimeQuery struct {
	AccessFilter
	Field string // holds a date-time, or a date that counts as midnight UTC
	// From (inclusive) and To (exclusive) limit the time; zero means no limit.
	From, To time.Time
	Where    []FieldValue
	// After is where the previous page ended; nil is the start.
	After       *TimePosition
	NewestFirst bool
	Limit       int // zero means 100
	MaxBytes    int // as in RecordQuery
}

// TimePosition is the position of a record in the order of time.
type TimePosition struct {
	At int64 `json:"at"` // microseconds since 1970
	ID int64 `json:"id"`
}

// TimedRecord is a record and its time, to the microsecond.
type TimedRecord struct {
	StoredRecord
	At time.Time
}

// TimePosition returns the record's position.
func (r TimedRecord) TimePosition() TimePosition { return TimePosition{At: r.At.UnixMicro(), ID: r.ID} }
