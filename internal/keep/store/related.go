package store

// RelatedQuery asks for the live records of a part whose field holds one of some texts or
// numbers, as they are written.
type RelatedQuery struct {
	Part
	Field  string
	Values []string
	// Each is how many of each value are wanted; one more is given when there is one.
	Each     int
	MaxBytes int // ends the reading with the record whose data reaches it; zero means no bound
}

// Related are records by the value of their field, those of each in the order of storing.
type Related struct {
	By map[string][]StoredRecord
	// Cut says that not all was read: a value may have more than it has here.
	Cut bool
}
