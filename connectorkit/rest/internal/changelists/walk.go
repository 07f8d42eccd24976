package changelists

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit"
)

const (
	// listPrefix begins the member of the bookmark that is a list's.
	listPrefix = "list "
	// maxQuietRequests is how many requests without news are made before a bookmark is written.
	maxQuietRequests = 20
	// maxListRestarts is how often in a run a list is begun again because a token was refused: that of the page, then
	// that of the last time.
	maxListRestarts = 2
)

var errSamePage = errors.New("the next page is one that was already read")

// listsWalk goes through the lists once.
type listsWalk struct {
	ChangeLists

	begun    bool
	account  string
	queue    []string
	listed   map[string]bool
	memories map[string]*listMemory
	again    map[string]int
	resumed  map[string]bool // their tokens are as old as the run that began with them
	counts   map[string]int  // things of each list so far, in this run
	counted  *connectorkit.Listed
	ended    map[string]bool // they were read to their end
	step     int             // makes the bookmarks of unfinished walks differ
}

func (w *listsWalk) readPage(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	if !w.begun {
		if err := w.beginWalk(ctx, at); err != nil {
			return connectorkit.Page{}, err
		}
	}
	var records []connectorkit.Record
	for asked := 0; len(w.queue) > 0 && len(records) == 0 && asked < maxQuietRequests; asked++ {
		var err error
		if records, err = w.requestPage(ctx); err != nil {
			return connectorkit.Page{}, err
		}
	}
	return w.pageWithBookmark(records), nil
}

// beginWalk reads the bookmark. What was never read to its end comes first.
func (w *listsWalk) beginWalk(ctx context.Context, at connectorkit.Cursor) error {
	names, account, err := w.Names(ctx)
	if err != nil {
		return err
	}
	w.counts = map[string]int{}
	w.memories, w.listed, w.again, w.resumed, w.ended, w.account = map[string]*listMemory{}, map[string]bool{},
		map[string]int{}, map[string]bool{}, map[string]bool{}, account
	w.step, _ = strconv.Atoi(at["step"]) // absent after a walk that was finished
	for name, text := range at {
		if list, ours := strings.CutPrefix(name, listPrefix); ours {
			w.memories[list] = readMemory(text)
		}
	}
	var done []string
	for _, name := range names {
		if w.listed[name] {
			continue
		}
		w.listed[name] = true
		m := w.memories[name]
		if m == nil || m.Account != account && m.Account != "" && account != "" {
			// The bookmark of another person does not apply.
			m = &listMemory{things: map[string]rememberedItem{}}
			w.memories[name] = m
		}
		m.Account, w.resumed[name] = account, m.Page != ""
		if m.Since != "" && m.Page == "" {
			done = append(done, name)
		} else {
			w.queue = append(w.queue, name)
		}
	}
	w.queue = append(w.queue, done...)
	for _, name := range slices.Sorted(maps.Keys(w.memories)) {
		if !w.listed[name] && w.memories[name].Account == account {
			w.queue = append(w.queue, name)
		}
	}
	w.begun = true
	return nil
}

// requestPage makes one request about the first list of the queue.
func (w *listsWalk) requestPage(ctx context.Context) ([]connectorkit.Record, error) {
	name := w.queue[0]
	m := w.memories[name]
	if !w.listed[name] {
		return w.deleteVanished(ctx, name, m)
	}
	if m.Page == "" {
		m.beginWalk()
	}
	ask := ChangeRequest{List: name, Since: m.Since, Page: m.Page}
	got, err := w.Page(ctx, ask)
	var refused *connectorkit.Error
	switch {
	case err == nil:
	case !errors.As(err, &refused):
		return nil, err
	case (refused.Class == connectorkit.CursorRejected || refused.Status == http.StatusBadRequest) &&
		(ask.Page != "" || ask.Since != "") && w.again[name] < maxListRestarts:
		if w.again[name]++; ask.Page == "" {
			m.Since = ""
		}
		m.Page, w.counts[name] = "", 0
		return nil, nil
	case (refused.Class == connectorkit.Forbidden || refused.Class == connectorkit.NotFound) && refused.OwnerMessage == "":
		// This list is not accessible or was just deleted; the others continue.
		w.queue = w.queue[1:]
		return []connectorkit.Record{connectorkit.Unreadable(name, nil)}, nil
	default:
		return nil, err
	}
	if got.Next != "" && got.Next == ask.Page {
		return nil, connectorkit.Fail(connectorkit.Malformed, errSamePage)
	}
	return w.storePage(name, m, got), nil
}

// storePage makes records of a page and moves on.
func (w *listsWalk) storePage(name string, m *listMemory, got ChangePage) (records []connectorkit.Record) {
	for _, t := range got.Things {
		m.storeItem(t)
		if t.Deleted {
			t.Record = connectorkit.Delete(w.Key(name, t.ID))
		}
		records = append(records, t.Record)
	}
	w.counts[name] += len(got.Things)
	if m.Page = got.Next; got.Next != "" {
		return records
	}
	if m.Whole && !w.resumed[name] && got.Total > 0 {
		w.counted = &connectorkit.Listed{Announced: int64(got.Total), Counted: int64(w.counts[name])}
	}
	if w.queue = w.queue[1:]; w.resumed[name] { // what changed since that run is still to come
		w.resumed[name], w.queue = false, append(w.queue, name)
	}
	gone, believed := m.endWalk(got.Since)
	w.ended[name] = true
	for _, id := range gone {
		records = append(records, connectorkit.Delete(w.Key(name, id)))
	}
	if !believed {
		records = append(records, connectorkit.Unreadable("deletions in "+name, nil))
	}
	return records
}

// deleteVanished deletes what was in a list that is no longer there.
func (w *listsWalk) deleteVanished(ctx context.Context, name string, m *listMemory) (records []connectorkit.Record,
	err error) {
	gone := false
	if w.Gone != nil {
		gone, err = w.Gone(ctx, name)
	}
	if err != nil {
		return nil, err
	}
	w.queue = w.queue[1:]
	if !gone {
		return nil, nil
	}
	for _, id := range slices.Sorted(maps.Keys(m.things)) {
		records = append(records, connectorkit.Delete(w.Key(name, id)))
	}
	delete(w.memories, name)
	return records, nil
}

// wholeLists is everything that the lists hold; nil when one of them was not read to its end without holes.
func (w *listsWalk) wholeLists() *connectorkit.Whole {
	for name, m := range w.memories {
		if m.Holes || !w.ended[name] && (m.Since == "" || m.Page != "") {
			return nil
		}
	}
	return &connectorkit.Whole{
		Keys: func(yield func(string) bool) {
			for name, m := range w.memories {
				for id := range m.things {
					if !yield(w.Key(name, id)) {
						return
					}
				}
			}
		},
		Gone: connectorkit.AllKeysGone, // a list is of one moment, whatever number of pages it has
	}
}

// pageWithBookmark is a page with its bookmark.
func (w *listsWalk) pageWithBookmark(records []connectorkit.Record) connectorkit.Page {
	out := connectorkit.Page{Records: records, Next: connectorkit.Cursor{}, More: len(w.queue) > 0}
	out.Listed, w.counted = w.counted, nil
	for name, m := range w.memories {
		out.Next[listPrefix+name] = m.encodeMemory()
	}
	if !out.More {
		out.Whole = w.wholeLists()
	}
	if out.More {
		w.step++
		out.Next["step"] = strconv.Itoa(w.step)
	}
	return out
}
