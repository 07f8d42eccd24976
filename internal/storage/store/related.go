package store

// RelatedQuery requests the live records with one of several texts or numbers in a field, as they are written.
type RelatedQuery struct {
	AccessFilter
	Field  string
	Values []string
	// Each is how many records to return per value; one more is returned when it exists.
	Each     int
	MaxBytes int // stops after the record that reaches this size; zero means no limit
}

// Related holds records by the value of their field, each list in the order of storing.
type Related struct {
	By map[string][]StoredRecord
	// Cut reports that MaxBytes ended the reading, so a value may have more records.
	Cut bool
}
