package sqlstore

import "github.com/pdpp-go/pdpp/internal/storage/store"

// firstPageRows is how many records are read before their size is known.
const firstPageRows = 4

// pageLimit collects a page up to a number of records or bytes.
type pageLimit struct {
	found    []store.StoredRecord
	limit    int
	maxBytes int // zero means no limit
	bytes    int
}

// add appends a record and reports whether another one fits.
func (m *pageLimit) add(r store.StoredRecord) bool {
	m.found = append(m.found, r)
	m.bytes += len(r.Data)
	return !m.full()
}

func (m *pageLimit) full() bool {
	return len(m.found) >= m.limit || m.maxBytes > 0 && m.bytes >= m.maxBytes
}

// firstLimit returns how many rows the first statement reads.
func (m *pageLimit) firstLimit() int {
	if m.maxBytes > 0 {
		return min(m.limit, firstPageRows)
	}
	return m.limit
}

// nextLimit estimates how many rows still fit, from the size of those read.
func (m *pageLimit) nextLimit() int {
	left := m.limit - len(m.found)
	if m.maxBytes == 0 || m.bytes == 0 {
		return left
	}
	return min(left, 1+(m.maxBytes-m.bytes)*len(m.found)/m.bytes)
}
