package connectorkit

import (
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
)

// memory is what an inventory's bookmark holds.
type memory struct {
	Pages []rememberedPage `json:"pages"`
	// Left are things that were emitted, are on no remembered page, and were not
	// found deleted yet.
	Left []string `json:"left,omitempty"`
	// View is that of the credential that read the pages.
	View string `json:"scopes,omitzero"`
	// Read says that the list was once read to its end.
	Read bool `json:"read,omitzero"`
}

// rememberedPage is one page as it was last read.
type rememberedPage struct {
	Version string   `json:"etag,omitzero"`
	Next    string   `json:"next,omitzero"`
	Keys    []string `json:"ids"`
}

// holds tells whether a page that was read again lists the same things.
func (p rememberedPage) holds(page InventoryPage) bool {
	return page.Next == p.Next && len(page.Hidden) == 0 &&
		slices.EqualFunc(page.Things, p.Keys, func(t Thing, key string) bool { return t.Key == key })
}

// memoryOf reads a bookmark; one that is not ours remembers nothing.
func memoryOf(at Cursor) memory {
	var m memory
	if json.Unmarshal([]byte(at["memory"]), &m) != nil {
		return memory{}
	}
	return m
}

// listed is everything on a remembered page.
func (m *memory) listed() map[string]bool {
	keys := map[string]bool{}
	for _, p := range m.Pages {
		for _, key := range p.Keys {
			keys[key] = true
		}
	}
	return keys
}

// start begins a walk at the first page with what the bookmark remembers.
func (w *inventoryWalk) start(at Cursor) {
	m := memoryOf(at)
	step, _ := strconv.Atoi(at["step"]) // absent after a walk that was finished
	*w = inventoryWalk{
		Inventory: w.Inventory, memory: m, begun: true, step: step,
		known: m.listed(), met: map[string]bool{}, tokens: map[string]bool{}, whole: true,
	}
	for _, key := range m.Left {
		w.known[key] = true
	}
}

// bookmark is the memory. Within a walk it also counts steps, so that no two
// bookmarks are equal; the count goes on where an interrupted walk left it,
// although every run begins at the first page.
func (w *inventoryWalk) bookmark(more bool) Cursor {
	left, listed := maps.Clone(w.known), w.listed()
	maps.DeleteFunc(left, func(key string, _ bool) bool { return listed[key] })
	w.Left = slices.Sorted(maps.Keys(left))
	c := Cursor{"memory": string(encode(w.memory))}
	if more {
		w.step++
		c["step"] = strconv.Itoa(w.step)
	}
	return c
}

// version is what the next page was when it was last read.
func (w *inventoryWalk) version() string {
	if w.at >= len(w.Pages) {
		return ""
	}
	return w.Pages[w.at].Version
}

// put takes over a page that was read.
func (w *inventoryWalk) put(here rememberedPage) {
	for _, key := range here.Keys {
		w.met[key], w.known[key] = true, true
	}
	switch {
	case w.at < len(w.Pages):
		w.Pages[w.at] = here
	case w.at < w.Remembered:
		w.Pages = append(w.Pages, here)
	}
}
