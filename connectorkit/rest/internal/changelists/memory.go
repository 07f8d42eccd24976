package changelists

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// listMemory is what the bookmark holds of one list.
type listMemory struct {
	Account string `json:"account,omitzero"`
	Since   string `json:"since,omitzero"`
	// Page is where a walk that is under way goes on; Whole means that it reads everything, Holes that it met
	// something that it could not read, Ended what was deleted in it.
	Page  string   `json:"page,omitzero"`
	Whole bool     `json:"whole,omitzero"`
	Holes bool     `json:"holes,omitzero"`
	Ended []string `json:"ended,omitempty"`
	// Known is things, a line each.
	Known string `json:"known,omitzero"`

	things map[string]rememberedItem // by id
}

// rememberedItem is what is remembered of one.
type rememberedItem struct {
	met  bool // in the walk that is under way
	void bool
	part string
}

const (
	itemMet = 1 << iota
	itemVoid
)

// readMemory reads a bookmark; one that is not ours remembers nothing.
func readMemory(text string) *listMemory {
	m := &listMemory{}
	if json.Unmarshal([]byte(text), m) != nil {
		m = &listMemory{}
	}
	m.things = map[string]rememberedItem{}
	for line := range strings.Lines(m.Known) {
		line = strings.TrimSuffix(line, "\n")
		id, part, _ := strings.Cut(line, " ")
		if len(id) < 2 || id[0] < '0' || id[0] > '3' {
			return &listMemory{things: map[string]rememberedItem{}}
		}
		flags, id := id[0]-'0', id[1:]
		if part == "^" { // the usual form of an occurrence
			part = id[:max(strings.LastIndexByte(id, '_'), 0)]
		}
		m.things[id] = rememberedItem{met: flags&itemMet != 0, void: flags&itemVoid != 0, part: part}
	}
	m.Known = ""
	return m
}

func (m *listMemory) encodeMemory() string {
	var b strings.Builder
	for _, id := range slices.Sorted(maps.Keys(m.things)) {
		t := m.things[id]
		flags := byte('0')
		if t.met {
			flags += itemMet
		}
		if t.void {
			flags += itemVoid
		}
		b.WriteByte(flags)
		b.WriteString(id)
		switch at := strings.LastIndexByte(id, '_'); {
		case t.part == "":
		case at > 0 && id[:at] == t.part:
			b.WriteString(" ^")
		default:
			b.WriteString(" " + t.part)
		}
		b.WriteByte('\n')
	}
	out := *m
	out.Known = b.String()
	text, err := json.Marshal(out, json.Deterministic(true))
	if err != nil {
		return "{}" // plain values have no such error
	}
	return string(text)
}

// beginWalk begins a walk: of what changed when the list was read before, otherwise of everything.
func (m *listMemory) beginWalk() {
	m.Whole, m.Holes, m.Ended = m.Since == "", false, nil
	for id, t := range m.things {
		if t.met {
			t.met = false
			m.things[id] = t
		}
	}
}

// storeItem takes a thing over.
func (m *listMemory) storeItem(t ChangeItem) {
	switch {
	case t.ID == "" || strings.ContainsAny(t.ID+t.Part, " \n^"): // no id of Google's
		m.Holes = true
	case t.Deleted:
		delete(m.things, t.ID)
		m.Ended = append(m.Ended, t.ID)
	default:
		m.things[t.ID] = rememberedItem{met: true, void: t.Void, part: t.Part}
	}
}

// endWalk finishes a walk and returns the items that no longer exist. False means that so much is missing that a
// sign-in that sees little is likelier than that it was deleted: it stays.
func (m *listMemory) endWalk(since string) (gone []string, believed bool) {
	missing := map[string]bool{}
	for id, t := range m.things {
		if m.Whole && !t.met {
			missing[id] = true
		}
	}
	if m.Holes && len(missing) > 0 { // one of them may be what could not be read: all is read again
		clear(missing)
		since = ""
	}
	if believed = len(missing) <= 20 || len(missing) <= len(m.things)/2; !believed {
		clear(missing)
	}
	for id, t := range m.things {
		if t.part == "" {
			continue
		}
		_, there := m.things[t.part]
		if there = there && !missing[t.part]; there {
			continue
		}
		// An item that only describes what its whole lacks is deleted with the whole. So does an occurrence of a series
		// that was just deleted, unless this very walk brought it: it can outlive its series.
		if t.void || !t.met && (slices.Contains(m.Ended, t.part) || missing[t.part]) {
			missing[id] = true
		}
	}
	gone = slices.Sorted(maps.Keys(missing))
	for _, id := range gone {
		delete(m.things, id)
	}
	m.Page, m.Since, m.Ended = "", since, nil
	return gone, believed
}
