package notion

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"pdpp/providersim"
)

type object map[string]any

// Streams of [Notion.Truth].
const (
	StreamPages     = "pages"
	StreamContents  = "page_contents"
	StreamDatabases = "databases"
)

// thing is a page or a database.
type thing struct {
	id       string
	kind     string // page, database
	title    string
	created  time.Time
	edited   time.Time
	parent   object
	trash    bool
	purged   bool // or not shared any more
	unlisted bool // search does not show it yet
	lost     bool // search does not show it any more
	blocks   []*block
}

type block struct {
	id       string
	kind     string
	text     string
	edited   time.Time
	closed   bool // what it holds is not shared
	children []*block
}

func (n *Notion) id() string {
	n.lastID++
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", uint32(n.lastID*2654435761), n.lastID)
}

const clock = "2006-01-02T15:04:05.000Z"

// add makes a page or a database seven minutes after the one before.
func (n *Notion) add(kind string) *thing {
	n.clock = n.clock.Add(7 * time.Minute)
	t := &thing{id: n.id(), kind: kind, created: n.clock, edited: n.clock, parent: object{"type": "workspace", "workspace": true}}
	t.title = fmt.Sprintf("%s %d", kind, n.lastID)
	if kind == "page" {
		for _, other := range n.things {
			if other.kind == "database" && n.lastID%3 == 0 {
				t.parent = object{"type": "database_id", "database_id": strings.ReplaceAll(other.id, "-", "")}
			}
		}
		for range n.cfg.Blocks {
			t.blocks = append(t.blocks, n.write(0))
		}
	}
	n.things = append(n.things, t)
	return t
}

var kinds = []string{"paragraph", "to_do", "heading_1", "code", "child_page", "table_row", "unsupported", "synced_block", "toggle"}

// write makes a block.
func (n *Notion) write(depth int) *block {
	b := &block{id: n.id(), kind: kinds[n.lastID%len(kinds)], edited: n.clock}
	if b.kind != "unsupported" && b.kind != "synced_block" {
		b.text = fmt.Sprintf("line %d", n.lastID)
	}
	if n.cfg.Nested && depth < 3 && (b.kind == "toggle" || b.kind == "to_do") {
		b.children = []*block{n.write(depth + 1), n.write(depth + 1)}
	}
	return b
}

func rich(text string) []object {
	if text == "" {
		return []object{}
	}
	half := len(text) / 2
	return []object{{"type": "text", "plain_text": text[:half]}, {"type": "mention", "plain_text": text[half:]}}
}

func (t *thing) object() object {
	o := object{"object": t.kind, "id": t.id, "created_time": t.created.Format(clock), "last_edited_time": t.edited.Truncate(time.Minute).Format(clock), "archived": t.trash, "in_trash": t.trash,
		"created_by": object{"object": "user", "id": "person-1"}, "last_edited_by": object{"object": "user", "id": "person-1"}, "parent": t.parent,
		"url": "https://www.notion.so/" + strings.ReplaceAll(t.id, "-", ""), "public_url": nil}
	if t.kind == "page" {
		o["properties"] = object{"Name": object{"id": "title", "type": "title", "title": rich(t.title)}, "Due": object{"id": "x", "type": "date", "date": nil}}
	} else {
		o["title"], o["properties"] = rich(t.title), object{"Name": object{"type": "title"}, "Due": object{"type": "date"}}
	}
	return o
}

func (b *block) object() object {
	o := object{"object": "block", "id": b.id, "type": b.kind, "has_children": len(b.children) > 0 || b.kind == "child_page" || b.kind == "synced_block", "last_edited_time": b.edited.Truncate(time.Minute).Format(clock), "in_trash": false}
	switch b.kind {
	case "child_page":
		o[b.kind] = object{"title": b.text}
	case "table_row":
		o[b.kind] = object{"cells": [][]object{rich(b.text), rich("and more")}}
	case "unsupported":
		o[b.kind] = object{}
	case "synced_block":
		o[b.kind] = object{"synced_from": object{"type": "block_id", "block_id": "00000000-0000-4000-8000-000000000001"}}
	default:
		o[b.kind] = object{"rich_text": rich(b.text)}
	}
	return o
}

// shown are the things of a kind that search gives, the last edited first.
func (n *Notion) shown(kind string) (out []*thing) {
	for _, t := range n.things {
		if t.kind == kind && !t.trash && !t.purged && !t.unlisted && !t.lost {
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(a, b *thing) int { return b.edited.Truncate(time.Minute).Compare(a.edited.Truncate(time.Minute)) })
	return out
}

// Truth returns everything that exists now and that search has shown, as the API serves it. The content of a page has its blocks one
// below the other, each with the one that holds it.
func (n *Notion) Truth() providersim.Truth {
	n.mu.Lock()
	defer n.mu.Unlock()
	t := providersim.Truth{}
	add := func(stream, key string, data object, deleted bool) {
		if t[stream] == nil {
			t[stream] = map[string]providersim.Item{}
		}
		t[stream][key] = providersim.Item{Data: json.RawMessage(providersim.EncodeJSON(data)), Deleted: deleted}
	}
	for _, x := range n.things {
		if x.unlisted {
			continue
		}
		gone := x.trash || x.purged
		add(x.kind+"s", x.id, x.object(), gone)
		if x.kind == "page" {
			add(StreamContents, x.id, object{"id": x.id, "blocks": flat(x.blocks, "")}, gone)
		}
	}
	return t
}

func flat(blocks []*block, parent string) []object {
	out := []object{}
	for _, b := range blocks {
		o := b.object()
		o["held_by"] = parent
		out = append(out, o)
		if !b.closed {
			out = append(out, flat(b.children, b.id)...)
		}
	}
	return out
}
