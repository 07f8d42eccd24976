// Package pagelimit bounds a page of records by their number and size.
package pagelimit

import "github.com/pdpp-go/pdpp/internal/storage/store"

// FirstRows is how many records are read before their size is known.
const FirstRows = 4

// Collected is a page up to a number of records or bytes.
type Collected struct {
	Found    []store.StoredRecord
	Limit    int
	MaxBytes int // zero means no limit
	bytes    int
}

// Add appends a record and reports whether another one fits.
func (m *Collected) Add(r store.StoredRecord) bool {
	m.Found = append(m.Found, r)
	m.bytes += len(r.Data)
	return !m.Full()
}

// Full reports whether no other record fits.
func (m *Collected) Full() bool {
	return len(m.Found) >= m.Limit || m.MaxBytes > 0 && m.bytes >= m.MaxBytes
}

// FirstLimit returns how many rows the first statement reads.
func (m *Collected) FirstLimit() int {
	if m.MaxBytes > 0 {
		return min(m.Limit, FirstRows)
	}
	return m.Limit
}

// NextLimit estimates how many rows still fit, from the size of those read.
func (m *Collected) NextLimit() int {
	left := m.Limit - len(m.Found)
	if m.MaxBytes == 0 || m.bytes == 0 {
		return left
	}
	return min(left, 1+(m.MaxBytes-m.bytes)*len(m.Found)/m.bytes)
}
