package connectorkit

import (
	"context"
	"maps"
	"slices"

	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
)

// DefaultRemembered is how many pages of a FullList the bookmark remembers.
const DefaultRemembered = 100

// FullList collects one stream from a list that shows a deletion only by absence. Every run reads the whole list.
// An unchanged page costs little if the provider supports conditional requests, and its records are not sent
// again.
//
// The bookmark contains the version and the keys of each page. Known keys that a whole walk did not find are
// deleted, if a second walk finds every page unchanged: then nothing shifted during the first one. A walk with
// holes, or with a credential that sees other items than before, deletes nothing. Neither does a walk that misses
// more than half of a large list, because a credential with less access is more likely.
type FullList struct {
	Stream string
	// Page reads the requested page.
	Page func(ctx context.Context, v PageRequest) (InventoryPage, error)
	// Remembered is how many pages the bookmark contains. Zero means DefaultRemembered. A longer list is read whole
	// too, and nothing of it is deleted.
	Remembered int
	// NewestFirst means that new items are on the first page. Of a list that is longer than Remembered only that part
	// is read again.
	NewestFirst bool
}

// PageRequest identifies the page to read.
type PageRequest struct {
	// Token is the Next of the previous page. It is empty for the first page.
	Token string
	// Version is the version of the page at the last read, for a conditional request. Empty means unknown.
	Version string
}

// InventoryPage is one page of a FullList.
type InventoryPage struct {
	// Unchanged means that the page still has the requested version. Things, Next and Version are ignored then.
	Unchanged bool
	Things    []ListItem
	Next      string // token of the next page; empty on the last
	// Version is for conditional requests, such as an ETag. Empty means that the provider has none, and the page
	// is always read in full.
	Version string
	// Hidden declares items that the provider withholds. A walk with such a page deletes nothing.
	Hidden []Record
	// Total is the provider's own count of items on all pages. Zero means none.
	Total int
	// Passed is how many items of the page belong to no stream and are left out on purpose.
	Passed int
	// View identifies what the credential may see, if the provider reports it. Absence under another view than
	// that of the bookmark means nothing.
	View string
}

// ListItem is one member of a FullList. Its key is the record's primary key. An item that could not be decoded
// has an Unreadable record and no key.
type ListItem struct {
	Key    string
	Record Record
}

func (v FullList) beginRun(r *runstate.Run) collectorRun {
	if v.Remembered <= 0 {
		v.Remembered = DefaultRemembered
	}
	w := &fullListWalk{FullList: v}
	return PagedStream{Stream: v.Stream, Page: w.readPage}.beginRun(r)
}

// fullListWalk is one walk through the list.
type fullListWalk struct {
	FullList
	pageMemory
	begun  bool
	known  map[string]bool // all keys that were emitted and not deleted
	met    map[string]bool
	tokens map[string]bool
	at     int    // number of the next page
	token  string // of the next page
	step   int    // bookmarks of unfinished walks
	whole  bool   // what was not met does not exist
	items  int    // on the pages so far
	total  int    // the provider's newest count
	other  bool   // another view: what was not met may be hidden
}

// readPage reads one page. A failure does not change the walk.
func (w *fullListWalk) readPage(ctx context.Context, at Cursor) (Page, error) {
	if !w.begun {
		w.startWalk(at)
	}
	page, err := w.Page(ctx, PageRequest{Token: w.token, Version: w.pageVersion()})
	if err != nil {
		w.begun = w.at > 0 // the first page may be requested with another bookmark
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
				here.Version, w.whole = "", false // request it again in full
				continue
			}
			here.Keys = append(here.Keys, thing.Key)
		}
	}
	w.items += len(page.Hidden) + page.Passed + len(here.Keys)
	if !page.Unchanged {
		w.items += len(page.Things) - len(here.Keys) // items without a key
	}
	if page.Total > 0 {
		w.total = page.Total
	}
	w.other = w.other || w.at == 0 && len(w.Pages) > 0 && page.View != w.View
	w.View = page.View
	w.whole = w.whole && len(page.Hidden) == 0 && !w.other
	return w.advanceWalk(ctx, here, out)
}

// advanceWalk stores the page and continues, or ends the walk.
func (w *fullListWalk) advanceWalk(ctx context.Context, here rememberedPage, out Page) (Page, error) {
	if here.Next != "" && w.tokens[here.Next] {
		return Page{}, Fail(Malformed, runstate.ErrPageRepeats)
	}
	last := here.Next == "" || w.NewestFirst && w.at+1 >= w.Remembered && w.Read
	w.rememberPage(here)
	if !last {
		w.tokens[here.Next] = true
		w.at, w.token = w.at+1, here.Next
		out.Next, out.More = w.walkBookmark(true), true
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
	gone := w.missingKeys()
	if w.whole && !long && len(gone) > 0 && isBelievable(len(gone), len(w.known)) && w.confirmWalk(ctx) {
		for _, key := range gone {
			out.Records = append(out.Records, Delete(key))
			delete(w.known, key)
		}
	}
	if w.whole && !long {
		out.Whole = &Whole{Keys: maps.Keys(w.rememberedKeys()), Gone: w.confirmedKeys}
	}
	if w.other || long {
		w.known = w.rememberedKeys() // absence means nothing here
	}
	out.Next = w.walkBookmark(false)
	return out, nil
}

// confirmWalk walks again and reports whether each page is unchanged. If that cannot be determined, it returns
// false, and a later run tries again.
func (w *fullListWalk) confirmWalk(ctx context.Context) bool {
	token := ""
	for _, p := range w.Pages {
		page, err := w.Page(ctx, PageRequest{Token: token, Version: p.Version})
		if err != nil || !page.Unchanged && !p.listsSameItems(page) {
			return false
		}
		token = p.Next
	}
	return true
}

// confirmedKeys returns the keys if the list is unchanged.
func (w *fullListWalk) confirmedKeys(ctx context.Context, keys []string) ([]string, error) {
	if !w.confirmWalk(ctx) {
		return nil, ErrNotConfirmed
	}
	return keys, nil
}

// isBelievable prevents a credential that suddenly has less access from emptying a large list.
func isBelievable(gone, known int) bool { return gone <= 20 || gone <= known/2 }

func (w *fullListWalk) missingKeys() []string {
	gone := maps.Clone(w.known)
	maps.DeleteFunc(gone, func(key string, _ bool) bool { return w.met[key] })
	return slices.Sorted(maps.Keys(gone))
}
