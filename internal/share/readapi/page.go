package readapi

import (
	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// pageBytes is how much data one answer holds. A page that reaches it ends there, with a
// cursor; it has one record at least, however large.
const pageBytes = 2 << 20

// page gathers the records of an answer, and one more by which it knows that it is not
// the last.
type page struct {
	limit int
	found []foundRecord
}

// rows is how many records are still to be read.
func (p *page) rows() int { return p.limit + 1 - len(p.found) }

// bytes is how much data is still to be read; never zero, which would mean no bound.
func (p *page) bytes() int { return max(1, pageBytes-p.size()) }

func (p *page) size() (n int) {
	for _, f := range p.found {
		n += len(f.record.Data)
	}
	return n
}

// add adds what was read through a view, and reports whether there is room for more.
func (p *page) add(v *grants.StreamView, rows []store.StoredRecord) bool {
	for _, row := range rows {
		p.found = append(p.found, foundRecord{v, row})
	}
	return len(p.found) <= p.limit && p.size() < pageBytes
}

// cut returns the records of the page, and whether more may follow.
func (p *page) cut() (all []foundRecord, more bool) {
	if len(p.found) > p.limit {
		return p.found[:p.limit], true
	}
	return p.found, p.size() >= pageBytes
}
