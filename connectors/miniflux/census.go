package miniflux

import (
	"context"
	"strconv"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// census finds what is gone, which no list tells. A server says of any stretch of numbers how many
// entries it has there; where that is not what is known, the stretch is halved, until it is small
// enough to be read.
type census struct {
	todo  []stretch // of which the server has another number than is known
	begun bool
	total int // of everything, the server's first count
}

// stretch is the numbers between two, both left out; zero is an open end.
type stretch struct{ after, before int64 }

// step asks once. It gives the records that follow from the answer, and whether everything agrees.
func (c *census) step(ctx context.Context, e *entries) (records []connectorkit.Record, done bool, err error) {
	here := stretch{}
	if c.begun {
		here = c.todo[len(c.todo)-1]
	}
	ids := e.known.Between(here.after, here.before)
	if len(ids) < perPage {
		records, err = c.read(ctx, e, here, ids)
	} else {
		var a answer
		a, _, err = e.list(ctx, here.after, here.before, 1, nil)
		if err == nil && here == (stretch{}) {
			c.total = *a.Total
		}
		if err == nil && *a.Total != len(ids) {
			if c.begun {
				c.todo = c.todo[:len(c.todo)-1]
			}
			middle := ids[len(ids)/2]
			c.todo = append(c.todo, stretch{here.after, middle}, stretch{middle - 1, here.before})
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

// read takes a stretch as the server has it now. A page that is full has more behind it: what is
// known of the rest stays, for a later run.
func (c *census) read(ctx context.Context, e *entries, here stretch, ids []int64) ([]connectorkit.Record, error) {
	limit := 1 // everything agrees as a rule, and then the number is all that is needed
	if c.begun {
		limit = perPage
	}
	a, _, err := e.list(ctx, here.after, here.before, limit, nil)
	if err != nil {
		return nil, err
	}
	if here == (stretch{}) {
		c.total = *a.Total
	}
	if *a.Total == len(ids) {
		return nil, nil
	}
	if limit == 1 {
		if a, _, err = e.list(ctx, here.after, here.before, perPage, nil); err != nil {
			return nil, err
		}
	}
	var records []connectorkit.Record
	there, last := map[int64]bool{}, int64(0)
	for _, one := range *a.Entries {
		id, record := entry(one)
		there[id] = true
		last = max(last, id)
		if !e.known.Has(id) {
			records = append(records, record)
			e.known.Add(id)
		}
	}
	for _, id := range ids {
		if !there[id] && (len(*a.Entries) < perPage || id < last) {
			records = append(records, connectorkit.Delete(strconv.FormatInt(id, 10)))
			e.known.Remove(id)
		}
	}
	return records, nil
}
