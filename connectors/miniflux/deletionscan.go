package miniflux

import (
	"context"
	"strconv"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// deletionScan finds deleted entries, which no list reports. A server returns the number of entries in any range of
// ids. Where that differs from what is known, the range is halved until it is small enough to read.
type deletionScan struct {
	todo  []idRange // of which the server has another number than is known
	begun bool
	total int // of everything, the server's first count
}

// idRange is the numbers between two, both left out; zero is an open end.
type idRange struct{ after, before int64 }

// scanNextRange makes one request. It returns the resulting records and whether everything agrees.
func (c *deletionScan) scanNextRange(ctx context.Context, e *entryCollector) (records []connectorkit.Record, done bool,
	err error) {
	here := idRange{}
	if c.begun {
		here = c.todo[len(c.todo)-1]
	}
	ids := e.known.Between(here.after, here.before)
	if len(ids) < entriesPerPage {
		records, err = c.readRange(ctx, e, here, ids)
	} else {
		var a entriesAnswer
		a, err = e.fetchEntries(ctx, here.after, here.before, 1, "")
		if err == nil && here == (idRange{}) {
			c.total = a.Total
		}
		if err == nil && a.Total != len(ids) {
			if c.begun {
				c.todo = c.todo[:len(c.todo)-1]
			}
			middle := ids[len(ids)/2]
			c.todo = append(c.todo, idRange{here.after, middle}, idRange{middle - 1, here.before})
			c.begun = true
			return nil, false, nil
		}
	}
	if err != nil {
		return nil, false, err
	}
	if c.begun {
		c.todo = c.todo[:len(c.todo)-1]
	}
	c.begun = true
	return records, len(c.todo) == 0, nil
}

// readRange compares a range of ids with the server's entries. A full page has more behind it: the known ids of the
// rest stay for a later run.
func (c *deletionScan) readRange(ctx context.Context, e *entryCollector, here idRange,
	ids []int64) ([]connectorkit.Record, error) {
	limit := 1 // everything agrees as a rule, and then the number is all that is needed
	if c.begun {
		limit = entriesPerPage
	}
	a, err := e.fetchEntries(ctx, here.after, here.before, limit, "")
	if err != nil {
		return nil, err
	}
	if here == (idRange{}) {
		c.total = a.Total
	}
	if a.Total == len(ids) {
		return nil, nil
	}
	if limit == 1 {
		if a, err = e.fetchEntries(ctx, here.after, here.before, entriesPerPage, ""); err != nil {
			return nil, err
		}
	}
	var records []connectorkit.Record
	there, last := map[int64]bool{}, int64(0)
	for _, one := range a.Entries {
		id, record := e.readEntry(one)
		there[id] = true
		last = max(last, id)
		if !e.known.Has(id) {
			records = append(records, record)
			e.known.Add(id)
		}
	}
	for _, id := range ids {
		if !there[id] && (len(a.Entries) < entriesPerPage || id < last) {
			records = append(records, connectorkit.Delete(strconv.FormatInt(id, 10)))
			e.known.Remove(id)
		}
	}
	return records, nil
}
