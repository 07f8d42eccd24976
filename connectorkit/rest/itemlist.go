package rest

import (
	"iter"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/rest/internal/spool"
)

// itemList holds the items of a list during a run, on disk if they are many.
type itemList struct {
	spool.Spool
	run   *Run
	parts []Partition // in the order of the items
}

// newList returns an empty list, which is removed when the run is over.
func (r *Run) newList() *itemList {
	l := &itemList{run: r}
	r.lists = append(r.lists, l)
	return l
}

// addItems appends the items of a partition.
func (l *itemList) addItems(part Partition, items []jsontext.Value) error {
	if n := len(l.parts); n == 0 || l.parts[n-1].ID != part.ID {
		l.parts = append(l.parts, part)
	}
	for _, raw := range items {
		if err := l.Add(len(l.parts)-1, raw); err != nil {
			return err
		}
	}
	return nil
}

// each iterates over the items.
func (l *itemList) each() iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		for entry, err := range l.EachEntry() {
			item := Item{Raw: entry.Raw, Run: l.run}
			if err == nil {
				item.Partition = l.parts[entry.Mark]
			}
			if !yield(item, err) {
				return
			}
		}
	}
}

// items returns all items.
func (l *itemList) items() ([]Item, error) {
	out := []Item{}
	for item, err := range l.each() {
		if err != nil {
			return nil, err
		}
		out = append(out, item)
	}
	return out, nil
}
