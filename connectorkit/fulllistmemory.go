package connectorkit

import (
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
)

// pageMemory is the content of a FullList's bookmark.
type pageMemory struct {
	Pages []rememberedPage `json:"pages"`
	// Left are keys that were emitted, are on no remembered page, and are not known to be deleted.
	Left []string `json:"left,omitempty"`
	// View is the view of the credential that read the pages.
	View string `json:"scopes,omitzero"`
	// Read means that the list was once read to its end.
	Read bool `json:"read,omitzero"`
}

// rememberedPage is one page as it was last read.
type rememberedPage struct {
	Version string   `json:"etag,omitzero"`
	Next    string   `json:"next,omitzero"`
	Keys    []string `json:"ids"`
}

// listsSameItems reports whether a page that was read again lists the same items.
func (p rememberedPage) listsSameItems(page InventoryPage) bool {
	return page.Next == p.Next && len(page.Hidden) == 0 &&
		slices.EqualFunc(page.Things, p.Keys, func(t ListItem, key string) bool { return t.Key == key })
}

// readPageMemory parses a bookmark. An unknown format counts as empty.
func readPageMemory(at Cursor) pageMemory {
	var m pageMemory
	if json.Unmarshal([]byte(at["memory"]), &m) != nil {
		return pageMemory{}
	}
	return m
}

// rememberedKeys returns all keys on remembered pages.
func (m *pageMemory) rememberedKeys() map[string]bool {
	keys := map[string]bool{}
	for _, p := range m.Pages {
		for _, key := range p.Keys {
			keys[key] = true
		}
	}
	return keys
}

// startWalk begins a walk at the first page with the content of the bookmark.
func (w *fullListWalk) startWalk(at Cursor) {
	m := readPageMemory(at)
	step, _ := strconv.Atoi(at["step"]) // absent after a finished walk
	*w = fullListWalk{
		FullList: w.FullList, pageMemory: m, begun: true, step: step,
		known: m.rememberedKeys(), met: map[string]bool{}, tokens: map[string]bool{}, whole: true,
	}
	for _, key := range m.Left {
		w.known[key] = true
	}
}

// walkBookmark returns the memory. Within a walk it also counts steps, so that no two bookmarks are equal. The count
// continues that of an interrupted walk, although every run begins at the first page.
func (w *fullListWalk) walkBookmark(more bool) Cursor {
	left, listed := maps.Clone(w.known), w.rememberedKeys()
	maps.DeleteFunc(left, func(key string, _ bool) bool { return listed[key] })
	w.Left = slices.Sorted(maps.Keys(left))
	c := Cursor{"memory": string(runstate.EncodeBookmark(w.pageMemory))}
	if more {
		w.step++
		c["step"] = strconv.Itoa(w.step)
	}
	return c
}

// pageVersion returns the version of the next page at the last read.
func (w *fullListWalk) pageVersion() string {
	if w.at >= len(w.Pages) {
		return ""
	}
	return w.Pages[w.at].Version
}

// rememberPage stores a page that was read. The keys of pages that are not remembered are not stored either: the
// bookmark is bounded.
func (w *fullListWalk) rememberPage(here rememberedPage) {
	for _, key := range here.Keys {
		if w.at < w.Remembered {
			w.known[key] = true
		}
		if w.known[key] {
			w.met[key] = true
		}
	}
	switch {
	case w.at < len(w.Pages):
		w.Pages[w.at] = here
	case w.at < w.Remembered:
		w.Pages = append(w.Pages, here)
	}
}
