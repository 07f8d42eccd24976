package grantview

import (
	"encoding/json"
	"time"
)

// Record is one record, with the fields that the grant allows.
type Record struct {
	Object       string          `json:"object" enum:"record"`
	ConnectionID string          `json:"connection_id"`
	Stream       string          `json:"stream"`
	ID           string          `json:"id"`
	Data         json.RawMessage `json:"data" schema:"object"`
	EmittedAt    time.Time       `json:"emitted_at"`
	// Blobs are the files that belong to fields which may be read.
	Blobs []Blob `json:"blobs,omitempty"`
	// Expanded are the records that belong to it, by the relationships that were asked for.
	Expanded []Expansion `json:"expanded,omitempty"`
}

// Expansion is what a relationship leads to.
type Expansion struct {
	Name string    `json:"name"`
	Data []Related `json:"data"`
	// HasMore means that there are or may be more.
	HasMore bool `json:"has_more"`
}

// Related is a record that belongs to another, with the fields that the grant allows.
type Related struct {
	ConnectionID string          `json:"connection_id"`
	Stream       string          `json:"stream"`
	ID           string          `json:"id"`
	Data         json.RawMessage `json:"data" schema:"object"`
	EmittedAt    time.Time       `json:"emitted_at"`
}

// Blob is a file of a record.
type Blob struct {
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
	Field  string `json:"field"`
	MIME   string `json:"mime"`
	Name   string `json:"name,omitempty"`
}

// RecordPage is some records of a stream.
type RecordPage struct {
	Object  string   `json:"object" enum:"list"`
	Data    []Record `json:"data"`
	HasMore bool     `json:"has_more"`
	// NextCursor is where the following page begins; empty on the last one.
	NextCursor string `json:"next_cursor,omitempty"`
	Completed
}

// RecordAnswer is one record as an answer.
type RecordAnswer struct {
	Record
	Completed
}

// NewRecordAnswer makes one.
func NewRecordAnswer(r Record, completeness []Completeness) RecordAnswer {
	r.Object = ObjectRecord
	return RecordAnswer{r, completed(completeness)}
}

// NewRecordPage makes a page; a cursor means that there is more.
func NewRecordPage(records []Record, next string, measured []Completeness) RecordPage {
	data := make([]Record, len(records))
	for i, r := range records {
		r.Object = ObjectRecord
		data[i] = r
	}
	return RecordPage{Object: ObjectList, Data: data, HasMore: next != "", NextCursor: next,
		Completed: completed(measured)}
}

// Change is a record that changed, or that is no more.
type Change struct {
	Object       string `json:"object" enum:"change"`
	ConnectionID string `json:"connection_id"`
	Stream       string `json:"stream"`
	ID           string `json:"id"`
	Deleted      bool   `json:"deleted"`
	// Data is absent when the record is no more.
	Data      json.RawMessage `json:"data,omitempty"`
	EmittedAt time.Time       `json:"emitted_at"`
}

// ChangePage is what changed since a cursor.
type ChangePage struct {
	Object  string   `json:"object" enum:"list"`
	Data    []Change `json:"data"`
	HasMore bool     `json:"has_more"`
	// NextChangesSince is where to go on, also when nothing changed.
	NextChangesSince string `json:"next_changes_since"`
	Completed
}

// NewChangePage makes a page. A deleted record never carries its data.
func NewChangePage(changes []Change, next string, more bool, measured []Completeness) ChangePage {
	data := make([]Change, len(changes))
	for i, c := range changes {
		c.Object = ObjectChange
		if c.Deleted {
			c.Data = nil
		}
		data[i] = c
	}
	return ChangePage{Object: ObjectList, Data: data, HasMore: more, NextChangesSince: next,
		Completed: completed(measured)}
}
