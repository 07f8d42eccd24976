package ynab

import (
	"context"
	"errors"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

const (
	transactions = "transactions"
	// earliest is sent as since_date with every request for transactions: YNAB answers with one year otherwise.
	earliest = "1970-01-01"
	// reachesBack follows a budget's id in the bookmark and names the since_date that its transactions were read with.
	reachesBack = " since"
)

// rows makes records of one row of an answer.
type rows func(budget string, raw jsontext.Value) []connectorkit.Record

// delta reads a collection that tells what changed and what was deleted since a number. The number is kept for
// each stream on its own: one that another stream has read up to says nothing about this one.
type delta struct {
	*api
	path, member string
	read         rows

	walk *walk // nil before the first page of a run
}

func (d *delta) page(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	if d.walk == nil {
		w, err := d.begin(ctx, at)
		if err != nil {
			return connectorkit.Page{}, err
		}
		d.walk = w
	}
	w := d.walk
	if len(w.left) == 0 {
		return d.whole(w.answer(nil)), nil
	}
	budget := w.left[0]
	number, _ := strconv.ParseInt(w.known[budget], 10, 64) // zero when nothing is known
	got, err := d.since(ctx, budget, d.path, d.member, number)
	if err == nil && d.path == transactions && number > 0 && w.known[budget+reachesBack] != earliest {
		// An earlier version asked without a date and got one year. The changes above hold the deletions.
		var all changes
		all, err = d.ask(ctx, budget, d.path, d.member, 0)
		got.rows = append(got.rows, all.rows...)
	}
	if err != nil && !vanished(err) {
		return connectorkit.Page{}, err
	}
	w.left = w.left[1:]
	if err != nil {
		return w.answer([]connectorkit.Record{connectorkit.Unreadable("budget "+budget, nil)}), nil
	}
	var records []connectorkit.Record
	for _, raw := range got.rows {
		records = append(records, d.read(budget, raw)...)
	}
	if got.whole { // what was deleted since is not told
		records = append(records, connectorkit.Unreadable("deletions in budget "+budget, nil))
	}
	w.known[budget] = strconv.FormatInt(got.knowledge, 10)
	if d.path == transactions {
		w.known[budget+reachesBack] = earliest
	}
	return d.whole(w.answer(records)), nil
}

// whole marks the last page of a walk that began without a bookmark: everything was read.
func (d *delta) whole(page connectorkit.Page) connectorkit.Page {
	if !page.More && d.walk.anew {
		page.Whole = &connectorkit.Whole{Gone: connectorkit.AllGone}
	}
	return page
}

// vanished reports whether one thing is not there; the others are.
func vanished(err error) bool {
	var refused *connectorkit.Error
	return errors.As(err, &refused) && refused.Class == connectorkit.NotFound
}
