package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/sqldialect"
)

// searchPageSize is the size of one page of the search index.
const searchPageSize = 4096

// maxPageCount is the largest page number of SQLite.
const maxPageCount = 1<<32 - 2

// DatabaseSizes counts pages with SQLite's own counters. The size of the history would need a full scan, so it is
// unknown.
func (d *dialect) DatabaseSizes(ctx context.Context, q sqldialect.Querier) (s sqldialect.DatabaseSizes, err error) {
	var page, pages, unused int64
	err = q.QueryRowContext(ctx,
		`SELECT a.page_size, b.page_count, c.freelist_count FROM pragma_page_size() a, pragma_page_count() b,
			pragma_freelist_count() c`).
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
		n *= searchPageSize
		s.Search = &n
	}
	return s, err
}

// searchPages reads the number of pages from the structure record of an FTS5 index. Ok is false for an unknown
// format.
func searchPages(structure []byte) (pages int64, ok bool) {
	const cookie = 4
	if len(structure) < cookie {
		return 0, false
	}
	in := structure[cookie:]
	rest, second := bytes.CutPrefix(in, []byte{0xff, 0, 0, 1})
	r := &varintReader{in: rest}
	levels, segments := r.next(), r.next()
	r.next() // write counter
	for range levels {
		r.next() // number of segments being merged
		for n := r.next(); n > 0 && !r.short; n-- {
			r.next() // segment id
			first, last := r.next(), r.next()
			if second {
				r.next()
				r.next()
				pages += r.next() // tombstone pages
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
	return pages, segments == 0 && !r.short && pages >= 0 && pages <= maxPageCount
}

// varintReader reads SQLite's varints: seven bits per byte, highest first, and eight in a ninth byte.
type varintReader struct {
	in    []byte
	short bool
}

func (v *varintReader) next() (n int64) {
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
