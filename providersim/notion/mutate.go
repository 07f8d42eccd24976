package notion

import (
	"fmt"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

// operations are the mutations that the control port knows.
var operations = map[string]func(n *Notion) string{
	"write":  func(n *Notion) string { return n.add("page").id },
	"edit":   func(n *Notion) string { return n.change("page", func(t *thing) { t.blocks[0].text += " edited" }) },
	"rename": func(n *Notion) string { return n.change("page", func(t *thing) { t.title += " renamed" }) },
	"remove_blocks": func(n *Notion) string {
		return n.change("page", func(t *thing) { t.blocks = t.blocks[:len(t.blocks)-1] })
	},
	"add_blocks": func(n *Notion) string {
		return n.change("page", func(t *thing) { t.blocks = append(t.blocks, n.write(0)) })
	},
	"redesign":     func(n *Notion) string { return n.change("data_source", func(t *thing) { t.title += " redesigned" }) },
	"add_database": func(n *Notion) string { return n.add("database").id },
	// The trash, and what is emptied from it or not shared any more, is told by nothing.
	"trash":   func(n *Notion) string { return n.quietly("page", func(t *thing) { t.trash = true }) },
	"unshare": func(n *Notion) string { return n.quietly("page", func(t *thing) { t.purged = true }) },
	"trash_database": func(n *Notion) string {
		return n.quietly("database", func(t *thing) {
			t.trash = true
			for _, row := range n.things { // and what is in it
				row.trash = row.trash || row.kind == "page" && row.of != nil && row.of.of == t
			}
		})
	},
	// A row, or a page within another one, that search never shows.
	"hide_row": func(n *Notion) string {
		t, sources := n.add("page"), n.shown("data_source")
		t.rowOf(sources[n.choice.IntN(len(sources))])
		t.unlisted = true
		return t.id
	},
	"nest": func(n *Notion) string {
		t := n.add("page")
		t.unlisted, t.nested, t.of = true, true, nil
		return n.change("page", func(holder *thing) {
			t.parent = object{"type": "page_id", "page_id": holder.id}
			holder.blocks = append(holder.blocks, &block{id: t.id, kind: "child_page", text: t.title, edited: n.clock})
		})
	},
	"edit_hidden": func(n *Notion) string {
		for _, t := range n.things {
			if t.unlisted && t.there() && (t.of != nil || t.nested) {
				t.title, t.edited = t.title+" edited", n.clock
				return t.id
			}
		}
		return ""
	},
	// Search does not have it for a time, and then with the time that it had.
	"import": func(n *Notion) string {
		t := n.add("page")
		t.unlisted, t.edited = true, n.things[0].edited
		return t.id
	},
	"index": func(n *Notion) string {
		for _, t := range n.things {
			t.unlisted, t.lost = t.unlisted && t.nested, false
		}
		return ""
	},
	// A page leaves the index and is there all the same.
	"unlist": func(n *Notion) string { return n.quietly("page", func(t *thing) { t.lost = true }) },
	"close": func(n *Notion) string {
		return n.quietly("page", func(t *thing) {
			for _, b := range t.blocks {
				b.closed = len(b.children) > 0
			}
		})
	},
	"blind": func(n *Notion) string { n.blind = true; return "" },
}

// Mutate runs an operation N times.
func (n *Notion) Mutate(m providersim.Mutation) (providersim.Mutated, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	operate, known := operations[m.Op]
	if !known || m.N < 1 || m.N > 10_000 {
		return providersim.Mutated{}, fmt.Errorf("mutation %q of %d is not known", m.Op, m.N)
	}
	out := providersim.Mutated{Op: m.Op, Now: n.clock}
	for range m.N {
		n.clock = n.clock.Add(2 * time.Minute)
		out.IDs = append(out.IDs, operate(n))
	}
	return out, nil
}

// change edits one of the things of a kind.
func (n *Notion) change(kind string, edit func(*thing)) string {
	return n.quietly(kind, func(t *thing) { edit(t); t.edited = n.clock })
}

// quietly does something to one of the things of a kind of which no time tells.
func (n *Notion) quietly(kind string, do func(*thing)) string {
	pool := n.shown(kind)
	slices.SortFunc(pool, func(a, b *thing) int { return a.created.Compare(b.created) })
	t := pool[n.choice.IntN(len(pool))]
	do(t)
	return t.id
}
