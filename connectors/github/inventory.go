package github

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"pdpp/connectorkit"
)

// maxRemembered is how many pages of a list are remembered: ten thousand things.
const maxRemembered = 100

var errCircle = errors.New("the next page is one that was already read")

// inventory reads a list whose only sign of a deletion is absence. Every run
// walks the whole list; pages that are as they were answer 304, which costs
// nothing of the primary limit, and say so for descriptions and flags too, which
// no order by time would show.
//
// The bookmark remembers of each page its ETag and its ids. What it knows and a
// whole walk did not meet is deleted, if a second, conditional walk finds every
// page as the first one did: then nothing shifted while the first was reading.
type inventory struct {
	api    *api
	first  string // target of the first page
	header http.Header
	read   func(jsontext.Value) (key string, rec connectorkit.Record)
	most   int // pages to remember

	walk *walk // nil before the first page of a run
}

func newInventory(a *api, first string, read func(jsontext.Value) (string, connectorkit.Record)) *inventory {
	return &inventory{api: a, first: first, read: read, most: maxRemembered}
}

func repositories(a *api) *inventory {
	return newInventory(a, target("user/repos", "per_page", pageSize, "sort", "pushed", "direction", "desc"), repository)
}

func starred(a *api) *inventory {
	v := newInventory(a, target("user/starred", "per_page", pageSize, "sort", "created", "direction", "desc"), star)
	v.header = http.Header{"Accept": {acceptStars}}
	return v
}

func gists(a *api) *inventory { return newInventory(a, target("gists", "per_page", pageSize), gist) }

// walk is one way through the list.
type walk struct {
	memory
	known   map[string]bool // everything that was ever emitted and not deleted
	met     map[string]bool
	targets map[string]bool
	at      int    // number of the next page
	target  string // of the next page
	step    int    // bookmarks of walks that were not finished
	whole   bool   // what was not met is not there

	narrowed bool // the token is another one: what was not met may be hidden from it
}

// page reads one page. A failure leaves the walk where it is.
func (v *inventory) page(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	if v.walk == nil {
		v.walk = beginWalk(at, v.first)
	}
	w := v.walk
	resp, err := v.api.get(ctx, w.target, w.condition(), v.header)
	if err != nil {
		return connectorkit.Page{}, err
	}
	out := connectorkit.Page{Records: resp.absent()}
	here := remembered{}
	if resp.unchanged {
		here = w.Pages[w.at]
	} else {
		rows, err := resp.rows()
		if err != nil {
			return connectorkit.Page{}, err
		}
		here.ETag, here.Next, here.IDs = resp.Header.Get("ETag"), resp.next, make([]string, 0, len(rows))
		for _, raw := range rows {
			key, rec := v.read(raw)
			out.Records = append(out.Records, rec)
			if key == "" {
				here.ETag, w.whole = "", false // ask again, and do not miss what is there
				continue
			}
			here.IDs = append(here.IDs, key)
		}
	}
	w.whole = w.whole && len(resp.heldBack()) == 0 && w.sameToken(resp.Header)
	return v.advance(ctx, here, out)
}

// advance puts the page into the memory and goes on, or ends the walk.
func (v *inventory) advance(ctx context.Context, here remembered, out connectorkit.Page) (connectorkit.Page, error) {
	w := v.walk
	if w.targets[here.Next] {
		return connectorkit.Page{}, connectorkit.Fail(connectorkit.Malformed, errCircle)
	}
	last := here.Next == "" || w.at+1 >= v.most && w.Read
	w.put(here, v.most)
	if !last {
		w.targets[here.Next] = true
		w.at, w.target = w.at+1, here.Next
		out.Next, out.More = w.bookmark(true), true
		return out, nil
	}
	long := w.at >= v.most || here.Next != ""
	if !long {
		w.Pages = w.Pages[:w.at+1]
	}
	w.Read = true
	gone := w.missing()
	if w.whole && !long && len(gone) > 0 && believable(len(gone), len(w.known)) {
		gone = v.confirmed(ctx, gone)
		for _, key := range gone {
			out.Records = append(out.Records, connectorkit.Delete(key))
			delete(w.known, key)
		}
	}
	if w.narrowed || long {
		w.known = w.listed() // absence means nothing here: forget it
	}
	out.Next = w.bookmark(false)
	return out, nil
}

// confirmed walks once more, asking of each page only whether it is as it was
// read. Without an answer to that nothing is confirmed, and a later run asks again.
func (v *inventory) confirmed(ctx context.Context, gone []string) []string {
	for i, p := range v.walk.Pages {
		if p.ETag == "" {
			return nil
		}
		resp, err := v.api.get(ctx, v.walk.targetOf(i, v.first), p.ETag, v.header)
		if err != nil || !resp.unchanged {
			return nil
		}
	}
	return gone
}

// believable keeps a token that suddenly sees little, which nothing announces for
// fine-grained ones, from emptying a large inventory.
func believable(gone, known int) bool { return gone <= 20 || gone <= known/2 }

func (w *walk) missing() []string {
	var keys []string
	for key := range w.known {
		if !w.met[key] {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}
