package store

import "time"

// TimedQuery pages through the live records of a part in the order of a time that they
// hold, and of their storing where that is equal. Records without a time are left out.
type TimedQuery struct {
	Part
	Field string // that holds the time: a date-time, or a date as its beginning in UTC
	// From and To, which is not included, bound the time; zero means no bound.
	From, To time.Time
	Where    []FieldValue
	// After is where the page before ended; nil is the beginning.
	After       *Moment
	NewestFirst bool
	Limit       int // zero means 100
	MaxBytes    int // as in RecordQuery
}

// Moment is the place of a record in the order of time.
type Moment struct {
	At int64 `json:"at"` // microseconds since 1970
	ID int64 `json:"id"`
}

// TimedRecord is a record and its time, to the microsecond.
type TimedRecord struct {
	StoredRecord
	At time.Time
}

// Moment is the record's place.
func (r TimedRecord) Moment() Moment { return Moment{At: r.At.UnixMicro(), ID: r.ID} }
