package sqlstore

import "github.com/pdpp-go/pdpp/internal/keep/store"

// firstRows is how many records are read before their size is known.
const firstRows = 4

// growing is a page that grows until it has as many records as it may, or as many bytes.
type growing struct {
	found    []store.StoredRecord
	limit    int
	maxBytes int // zero means no bound
	bytes    int
}

// add takes a record, and says whether there is room for another.
func (m *growing) add(r store.StoredRecord) bool {
	m.found = append(m.found, r)
	m.bytes += len(r.Data)
	return !m.full()
}

func (m *growing) full() bool {
	return len(m.found) >= m.limit || m.maxBytes > 0 && m.bytes >= m.maxBytes
}

// first is how many rows the first statement reads.
func (m *growing) first() int {
	if m.maxBytes > 0 {
		return min(m.limit, firstRows)
	}
	return m.limit
}

// next is how many rows may still fit, by the size of those that are there.
func (m *growing) next() int {
	left := m.limit - len(m.found)
	if m.maxBytes == 0 || m.bytes == 0 {
		return left
	}
	return min(left, 1+(m.maxBytes-m.bytes)*len(m.found)/m.bytes)
}
