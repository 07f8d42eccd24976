package notion

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

type object map[string]any

// Streams of [Notion.Truth].
const (
	StreamPages     = "pages"
	StreamContents  = "page_contents"
	StreamDatabases = "databases"
	StreamSources   = "data_sources"
)

// thing is a page, a database or a data source, which holds the rows of a database.
type thing struct {
	id       string
	kind     string // page, database, data_source
	of       *thing // the database of a data source, the data source of a row
	title    string
	created  time.Time
	edited   time.Time
	parent   object
	trash    bool
	purged   bool // or not shared any more
	unlisted bool // search does not show it yet
	lost     bool // search does not show it any more
	nested   bool // a page within another one
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

// add makes a page or a database seven minutes after the one before. A database has one data source, every fourth has
// two.
func (n *Notion) add(kind string) *thing {
	n.clock = n.clock.Add(7 * time.Minute)
	t := &thing{id: n.id(), kind: kind, created: n.clock, edited: n.clock, parent: object{"type": "workspace", "workspace": true}}
	t.title = fmt.Sprintf("%s %d", kind, n.lastID)
	switch kind {
	case "page":
		for _, other := range n.things {
			if other.kind == "data_source" && other.there() && n.lastID%3 == 0 {
				t.rowOf(other)
			}
		}
		for range n.cfg.Blocks {
			t.blocks = append(t.blocks, n.write(0))
		}
	case "database":
		defer func() {
			for range 1 + n.lastID%4/3 {
				source := n.add("data_source")
				source.of, source.parent = t, object{"type": "database_id", "database_id": t.id}
			}
		}()
	}
	n.things = append(n.things, t)
	return t
}

// rowOf puts a page into a data source.
func (t *thing) rowOf(source *thing) {
	t.of = source
	t.parent = object{"type": "data_source_id", "data_source_id": strings.ReplaceAll(source.id, "-", ""),
		"database_id": source.of.id}
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
	plain := object{"bold": false, "italic": false, "strikethrough": false, "underline": false, "code": false,
		"color": "default"}
	return []object{
		{"type": "text", "text": object{"content": text[:half], "link": nil}, "annotations": plain, "plain_text": text[:half],
			"href": nil},
		{"type": "mention", "mention": object{"type": "user", "user": person}, "annotations": plain,
			"plain_text": text[half:], "href": nil},
	}
}

var person = object{"object": "user", "id": "person-1"}

func (n *Notion) object(t *thing) object {
	o := object{"object": t.kind, "id": t.id, "created_time": t.created.Format(clock),
		"last_edited_time": t.edited.Truncate(time.Minute).Format(clock), "archived": !t.there(), "in_trash": !t.there(),
		"parent": t.parent, "icon": nil, "cover": nil, "url": "https://www.notion.so/" + strings.ReplaceAll(t.id, "-", ""),
		"public_url": nil}
	switch t.kind {
	case "page":
		o["created_by"], o["last_edited_by"], o["is_locked"], o["is_archived"] = person, person, false, false
		o["properties"] = object{"Name": object{"id": "title", "type": "title", "title": rich(t.title)}}
		if t.of != nil {
			o["properties"].(object)["Due"] = object{"id": "x", "type": "date",
				"date": object{"start": "2026-03-01", "end": nil, "time_zone": nil}}
			o["properties"].(object)["Tags"] = object{"id": "y", "type": "multi_select",
				"multi_select": []object{{"id": "1", "name": "home", "color": "red"}}}
			o["properties"].(object)["Cost"] = object{"id": "z", "type": "number", "number": nil}
		}
	case "data_source":
		o["created_by"], o["last_edited_by"], o["is_inline"], o["description"], o["title"], o["database_parent"] = person,
			person, false, []object{}, rich(t.title), t.of.parent
		o["properties"] = object{"Name": column("title", "Name"), "Due": column("date", "Due"),
			"Tags": column("multi_select", "Tags"), "Cost": column("number", "Cost")}
	default:
		o["is_inline"], o["is_locked"], o["description"], o["title"] = false, false, []object{}, rich(t.title)
		sources := []object{}
		for _, source := range n.things {
			if source.of == t && !source.trash && !source.purged {
				sources = append(sources, object{"id": source.id, "name": source.title})
			}
		}
		o["data_sources"] = sources
	}
	return o
}

func column(kind, name string) object {
	body := object{}
	switch kind {
	case "multi_select":
		body = object{"options": []object{}}
	case "number":
		body = object{"format": "euro"}
	}
	return object{"id": kind, "name": name, "description": nil, "type": kind, kind: body}
}

func (b *block) object() object {
	o := object{"object": "block", "id": b.id, "type": b.kind, "has_children": len(b.children) > 0 ||
		b.kind == "child_page" || b.kind == "synced_block",
		"parent": object{"type": "workspace", "workspace": true}, "created_time": b.edited.Format(clock),
		"created_by": person, "last_edited_by": person,
		"last_edited_time": b.edited.Truncate(time.Minute).Format(clock), "in_trash": false, "archived": false}
	switch b.kind {
	case "child_page", "child_database":
		o[b.kind] = object{"title": b.text}
	case "table_row":
		o[b.kind] = object{"cells": [][]object{rich(b.text), rich("and more")}}
	case "unsupported":
		o[b.kind] = object{"block_type": "form"}
	case "synced_block":
		o[b.kind] = object{"synced_from": object{"type": "block_id", "block_id": "00000000-0000-4000-8000-000000000001"}}
	case "to_do":
		o[b.kind] = object{"rich_text": rich(b.text), "color": "default", "checked": true}
	case "heading_1":
		o[b.kind] = object{"rich_text": rich(b.text), "color": "default", "is_toggleable": false}
	case "code":
		o[b.kind] = object{"rich_text": rich(b.text), "caption": []object{}, "language": "go"}
	default:
		o[b.kind] = object{"rich_text": rich(b.text), "color": "default"}
	}
	return o
}

// shown are the things of a kind that search gives, the last edited first.
func (n *Notion) shown(kind string) (out []*thing) {
	for _, t := range n.things {
		if t.kind == kind && t.there() && !t.unlisted && !t.lost {
			out = append(out, t)
		}
	}
	latest(out)
	return out
}

// latest sorts things, the last edited first.
func latest(things []*thing) {
	slices.SortStableFunc(things,
		func(a, b *thing) int { return b.edited.Truncate(time.Minute).Compare(a.edited.Truncate(time.Minute)) })
}

// Truth returns everything that exists now and that search, a query or a page has shown, as the API serves it. The
// content of a page has its blocks one below the other, each with the one that holds it.
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
		if x.unlisted && !x.nested && (x.of == nil || !x.of.there()) {
			continue
		}
		gone := !x.there()
		add(x.kind+"s", x.id, n.object(x), gone)
		if x.kind == "page" {
			add(StreamContents, x.id, object{"id": x.id, "blocks": flat(x.blocks, "")}, gone)
		}
	}
	return t
}

// there reports whether a thing can be read. A data source goes with its database, a row stays on its own.
func (t *thing) there() bool {
	return !t.trash && !t.purged && (t.kind != "data_source" || t.of == nil || t.of.there())
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
