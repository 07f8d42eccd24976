package connectorkit

import (
	"context"
	"maps"
	"slices"
)

// DefaultRemembered is how many pages of an inventory the bookmark remembers.
const DefaultRemembered = 100

// Inventory collects one stream from a list whose only sign of a deletion is
// absence. Every run walks the whole list; a page that is as it was costs the
// provider next to nothing where it can be asked conditionally, and its records
// are not sent again.
//
// The bookmark remembers of each page its version and its keys. What it knows and a
// whole walk did not meet is deleted, if a second walk finds every page as the first
// one did: then nothing shifted while the first was reading. A walk with holes, or
// with a credential that sees other things than before, deletes nothing; nor does one
// that misses more than half of a large list, because a credential that suddenly sees
// little is likelier than that.
type Inventory struct {
	Stream string
	// Page reads the page of the visit.
	Page func(ctx context.Context, v Visit) (InventoryPage, error)
	// Remembered is how many pages the bookmark holds; zero means DefaultRemembered. A
	// list that is longer is read again in its first part only, and nothing is deleted.
	Remembered int
}

// Visit says which page to read.
type Visit struct {
	// Token is the Next of the page before; empty for the first page.
	Token string
	// Version is what the page was when it was last read; empty when that is not known.
	// A provider that can be asked conditionally is asked with it.
	Version string
}

// InventoryPage is one page of an inventory.
type InventoryPage struct {
	// Unchanged says that the page still is of the version asked for. Things, Next and
	// Version do not count then.
	Unchanged bool
	Things    []Thing
	Next      string // token of the next page; empty on the last
	// Version is what a later visit can ask with, as an ETag; empty when the provider
	// has no such thing. The page is then read in full each time.
	Version string
	// Hidden declares what the provider says that it holds back. A walk that meets
	// such a page deletes nothing.
	Hidden []Record
	// Total is the provider's own count of things on all pages; zero when there
	// is none.
	Total int
	// Passed is how many items of the page belong to no stream and are left out on purpose.
	Passed int
	// View names what the credential may see, where the provider tells. Absence under
	// another view than the one that the bookmark was made with means nothing.
	View string
}

// Thing is one member of an inventory. Its key is the record's primary key. A thing
// that could not be decoded has an Unreadable record and no key.
type Thing struct {
	Key    string
	Record Record
}

func (v Inventory) begin(r *run) worker {
	if v.Remembered <= 0 {
		v.Remembered = DefaultRemembered
	}
	w := &inventoryWalk{Inventory: v}
	return Flat{Stream: v.Stream, Page: w.page}.begin(r)
}

// inventoryWalk is one way through the list.
type inventoryWalk struct {
	Inventory
	memory
	begun  bool
	known  map[string]bool // everything that was ever emitted and not deleted
	met    map[string]bool
	tokens map[string]bool
	at     int    // number of the next page
	token  string // of the next page
	step   int    // bookmarks of walks that were not finished
	whole  bool   // what was not met is not there
	items  int    // on the pages so far
	total  int    // the provider's newest count
	other  bool   // the view is another one: what was not met may be hidden from it
}

// page reads one page. A failure leaves the walk where it is.
func (w *inventoryWalk) page(ctx context.Context, at Cursor) (Page, error) {
	if !w.begun {
		w.start(at)
	}
	page, err := w.Page(ctx, Visit{Token: w.token, Version: w.version()})
	if err != nil {
		w.begun = w.at > 0 // the first page may be asked for by another bookmark
		return Page{}, err
	}
	out := Page{Records: page.Hidden}
	here := rememberedPage{}
	if page.Unchanged && w.at < len(w.Pages) {
		here = w.Pages[w.at]
	} else {
		here.Version, here.Next, here.Keys = page.Version, page.Next, make([]string, 0, len(page.Things))
		for _, thing := range page.Things {
			out.Records = append(out.Records, thing.Record)
			if thing.Key == "" {
				here.Version, w.whole = "", false // ask again, and do not miss what is there
				continue
			}
			here.Keys = append(here.Keys, thing.Key)
		}
	}
	w.items += len(page.Hidden) + page.Passed + len(here.Keys)
	if !page.Unchanged {
		w.items += len(page.Things) - len(here.Keys) // those without a key
	}
	if page.Total > 0 {
		w.total = page.Total
	}
	w.other = w.other || w.at == 0 && len(w.Pages) > 0 && page.View != w.View
	w.View = page.View
	w.whole = w.whole && len(page.Hidden) == 0 && !w.other
	return w.advance(ctx, here, out)
}

// advance puts the page into the memory and goes on, or ends the walk.
func (w *inventoryWalk) advance(ctx context.Context, here rememberedPage, out Page) (Page, error) {
	if here.Next != "" && w.tokens[here.Next] {
		return Page{}, Fail(Malformed, errRepeats)
	}
	last := here.Next == "" || w.at+1 >= w.Remembered && w.Read
	w.put(here)
	if !last {
		w.tokens[here.Next] = true
		w.at, w.token = w.at+1, here.Next
		out.Next, out.More = w.bookmark(true), true
		return out, nil
	}
	long := w.at >= w.Remembered || here.Next != ""
	if !long {
		w.Pages = w.Pages[:w.at+1]
	}
	w.Read = true
	if w.total > 0 && !long {
		out.Listed = &Listed{Announced: int64(w.total), Counted: int64(w.items)}
	}
	gone := w.missing()
	if w.whole && !long && len(gone) > 0 && believable(len(gone), len(w.known)) && w.confirmed(ctx) {
		for _, key := range gone {
			out.Records = append(out.Records, Delete(key))
			delete(w.known, key)
		}
	}
	if w.whole && !long {
		out.Whole = &Whole{Keys: maps.Keys(w.listed()), Gone: w.sure}
	}
	if w.other || long {
		w.known = w.listed() // absence means nothing here: forget it
	}
	out.Next = w.bookmark(false)
	return out, nil
}

// confirmed walks once more and tells whether each page is as it was read. Without an
// answer to that nothing is confirmed, and a later run asks again.
func (w *inventoryWalk) confirmed(ctx context.Context) bool {
	token := ""
	for _, p := range w.Pages {
		page, err := w.Page(ctx, Visit{Token: token, Version: p.Version})
		if err != nil || !page.Unchanged && !p.holds(page) {
			return false
		}
		token = p.Next
	}
	return true
}

// sure returns the keys, if the list is as it was read.
func (w *inventoryWalk) sure(ctx context.Context, keys []string) ([]string, error) {
	if !w.confirmed(ctx) {
		return nil, ErrUnsure
	}
	return keys, nil
}

// believable keeps a credential that suddenly sees little, which nothing announces,
// from emptying a large inventory.
func believable(gone, known int) bool { return gone <= 20 || gone <= known/2 }

func (w *inventoryWalk) missing() []string {
	gone := maps.Clone(w.known)
	maps.DeleteFunc(gone, func(key string, _ bool) bool { return w.met[key] })
	return slices.Sorted(maps.Keys(gone))
}
