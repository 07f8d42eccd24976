package store

// CorrespondentQuery asks who wrote the live records of a stream.
type CorrespondentQuery struct {
	ConnectionID, Stream string
	// Author and Address are the fields that name the author and hold the author's address. Either may be empty.
	Author, Address string
	// Mine is the field that is true for what the owner wrote, which is left out. It may be empty.
	Mine string
}

// Correspondence counts what one author wrote in one month.
type Correspondence struct {
	Author, Address string
	Month           string // like 2026-03; empty without a semantic time
	Records         int64
	First, Last     string // the first and last semantic time
}
