package github

import (
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"

	"pdpp/connectorkit"
)

// memory is what an inventory's bookmark holds.
type memory struct {
	Pages []remembered `json:"pages"`
	// Left are things that were emitted, are on no remembered page, and were not
	// found deleted yet.
	Left []string `json:"left,omitempty"`
	// Scopes are those of the token that read the pages: with others, absence
	// means something else. Fine-grained tokens do not tell theirs.
	Scopes string `json:"scopes,omitzero"`
	// Read says that the list was once read to its end.
	Read bool `json:"read,omitzero"`
}

// remembered is one page as it was last read.
type remembered struct {
	ETag string   `json:"etag,omitzero"`
	Next string   `json:"next,omitzero"`
	IDs  []string `json:"ids"`
}

// memoryOf reads a bookmark; one that is not ours remembers nothing.
func memoryOf(at connectorkit.Cursor) memory {
	var m memory
	if json.Unmarshal([]byte(at["memory"]), &m) != nil {
		return memory{}
	}
	return m
}

// bookmark is the memory. Within a walk it also counts steps, so that no two
// bookmarks are equal; the count goes on where an interrupted walk left it,
// although every run begins at the first page.
func (w *walk) bookmark(more bool) connectorkit.Cursor {
	w.Left = nil
	listed := w.listed()
	for _, key := range slices.Sorted(maps.Keys(w.known)) {
		if !listed[key] {
			w.Left = append(w.Left, key)
		}
	}
	text, err := json.Marshal(w.memory)
	if err != nil {
		return nil
	}
	c := connectorkit.Cursor{"memory": string(text)}
	if more {
		w.step++
		c["step"] = strconv.Itoa(w.step)
	}
	return c
}

// listed is everything on a remembered page.
func (m *memory) listed() map[string]bool {
	ids := map[string]bool{}
	for _, p := range m.Pages {
		for _, id := range p.IDs {
			ids[id] = true
		}
	}
	return ids
}

func beginWalk(at connectorkit.Cursor, first string) *walk {
	m := memoryOf(at)
	step, _ := strconv.Atoi(at["step"]) // absent after a walk that was finished
	w := &walk{
		memory: m, step: step, known: m.listed(), met: map[string]bool{}, target: first, targets: map[string]bool{first: true}, whole: true,
	}
	for _, key := range m.Left {
		w.known[key] = true
	}
	return w
}

// targetOf is where a remembered page is read.
func (m *memory) targetOf(i int, first string) string {
	if i == 0 {
		return first
	}
	return m.Pages[i-1].Next
}

// condition is the ETag that the next page had; empty when it is not remembered.
func (w *walk) condition() string {
	if w.at >= len(w.Pages) {
		return ""
	}
	return w.Pages[w.at].ETag
}

// put takes over a page that was read.
func (w *walk) put(here remembered, most int) {
	for _, id := range here.IDs {
		w.met[id], w.known[id] = true, true
	}
	switch {
	case w.at < len(w.Pages):
		w.Pages[w.at] = here
	case w.at < most:
		w.Pages = append(w.Pages, here)
	}
}

// sameToken notes the scopes of the token and reports whether they are those that
// the memory was made with.
func (w *walk) sameToken(h http.Header) bool {
	scopes := h.Get("X-OAuth-Scopes")
	if w.at == 0 && len(w.Pages) > 0 && scopes != w.Scopes {
		w.narrowed = true
	}
	w.Scopes = scopes
	return !w.narrowed
}
