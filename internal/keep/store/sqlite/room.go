package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"

	"github.com/pdpp-go/pdpp/internal/keep/store/sqlstore"
)

// searchPage is the room that one page of the search index takes.
const searchPage = 4096

// mostPages is how many SQLite can number.
const mostPages = 1<<32 - 2

// Sizes counts pages, of which SQLite keeps account itself. What of them holds earlier versions
// of records it could tell only by reading them all.
func (d *dialect) Sizes(ctx context.Context, q sqlstore.Querier) (s sqlstore.Sizes, err error) {
	var page, pages, unused int64
	err = q.QueryRowContext(ctx, `SELECT a.page_size, b.page_count, c.freelist_count FROM pragma_page_size() a, pragma_page_count() b, pragma_freelist_count() c`).
		Scan(&page, &pages, &unused)
	if err != nil {
		return s, err
	}
	whole, unused := pages*page, unused*page
	s.Database, s.Unused = &whole, &unused
	var structure []byte
	err = q.QueryRowContext(ctx, `SELECT block FROM record_search_data WHERE id = 10`).Scan(&structure)
	if errors.Is(err, sql.ErrNoRows) {
		return s, nil
	}
	if n, ok := searchPages(structure); ok {
		n *= searchPage
		s.Search = &n
	}
	return s, err
}

// searchPages reads in the structure record of an FTS5 index how many pages its segments have.
// Ok is false when it is written in a way that is not known.
func searchPages(structure []byte) (pages int64, ok bool) {
	const cookie = 4
	if len(structure) < cookie {
		return 0, false
	}
	in := structure[cookie:]
	rest, second := bytes.CutPrefix(in, []byte{0xff, 0, 0, 1})
	r := &varints{in: rest}
	levels, segments := r.next(), r.next()
	r.next() // how often it was written
	for range levels {
		r.next() // how many are being merged
		for n := r.next(); n > 0 && !r.short; n-- {
			r.next() // its number
			first, last := r.next(), r.next()
			if second {
				r.next()
				r.next()
				pages += r.next() // of what was deleted
				r.next()
				r.next()
			}
			if last < first {
				return 0, false
			}
			if last > 0 {
				pages += last - first + 1
			}
			segments--
		}
		if r.short {
			return 0, false
		}
	}
	return pages, segments == 0 && !r.short && pages >= 0 && pages <= mostPages
}

// varints reads SQLite's numbers: seven bits in a byte, the highest first, and eight in a ninth.
type varints struct {
	in    []byte
	short bool
}

func (v *varints) next() (n int64) {
	for i, b := range v.in {
		if i == 8 {
			v.in = v.in[i+1:]
			return n<<8 | int64(b)
		}
		n = n<<7 | int64(b&0x7f)
		if b < 0x80 {
			v.in = v.in[i+1:]
			return n
		}
	}
	v.in, v.short = nil, true
	return 0
}
