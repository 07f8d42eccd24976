package notion

import (
	"fmt"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/providersim/rest"
)

type jsonObject = rest.Object

// Streams of the ground truth.
const (
	StreamPages     = "pages"
	StreamContents  = "page_contents"
	StreamDatabases = "databases"
	StreamSources   = "data_sources"
)

// simObject is a page, a database or a data source, which holds the rows of a database.
type simObject struct {
	id       string
	kind     string     // page, database, data_source
	of       *simObject // the database of a data source, the data source of a row
	title    string
	created  time.Time
	edited   time.Time
	parent   jsonObject
	trash    bool
	purged   bool // or not shared any more
	unlisted bool // search does not show it yet
	lost     bool // search does not show it any more
	nested   bool // a page within another one
	blocks   []*simBlock
}

type simBlock struct {
	id       string
	kind     string
	text     string
	edited   time.Time
	closed   bool // what it holds is not shared
	children []*simBlock
}

const timeLayout = "2006-01-02T15:04:05.000Z"

// addObject makes a page or a database seven minutes after the one before. A database has one data source, every
// fourth has two.
func (n *Notion) addObject(kind string) *simObject {
	number, at := n.NextID(), n.Advance(7*time.Minute)
	t := &simObject{id: rest.UUID(number), kind: kind, created: at, edited: at, title: fmt.Sprintf("%s %d", kind, number),
		parent: jsonObject{"type": "workspace", "workspace": true}}
	switch kind {
	case "page":
		for _, other := range n.things {
			if other.kind == "data_source" && other.isReadable() && number%3 == 0 {
				t.moveToSource(other)
			}
		}
		for range n.cfg.Blocks {
			t.blocks = append(t.blocks, n.writeBlock(0))
		}
	case "database":
		defer func() {
			for range 1 + number%4/3 {
				source := n.addObject("data_source")
				source.of, source.parent = t, jsonObject{"type": "database_id", "database_id": t.id}
			}
		}()
	}
	n.things = append(n.things, t)
	return t
}

// moveToSource puts a page into a data source.
func (t *simObject) moveToSource(source *simObject) {
	t.of = source
	t.parent = jsonObject{"type": "data_source_id", "data_source_id": strings.ReplaceAll(source.id, "-", ""),
		"database_id": source.of.id}
}

var blockKinds = []string{"paragraph", "to_do", "heading_1", "code", "child_page", "table_row", "unsupported",
	"synced_block", "toggle"}

// writeBlock makes a block.
func (n *Notion) writeBlock(depth int) *simBlock {
	number := n.NextID()
	b := &simBlock{id: rest.UUID(number), kind: blockKinds[number%len(blockKinds)], edited: n.Clock()}
	if b.kind != "unsupported" && b.kind != "synced_block" {
		b.text = fmt.Sprintf("line %d", number)
	}
	if n.cfg.Nested && depth < 3 && (b.kind == "toggle" || b.kind == "to_do") {
		b.children = []*simBlock{n.writeBlock(depth + 1), n.writeBlock(depth + 1)}
	}
	return b
}

func richTextOf(text string) []jsonObject {
	if text == "" {
		return []jsonObject{}
	}
	half := len(text) / 2
	plain := jsonObject{"bold": false, "italic": false, "strikethrough": false, "underline": false, "code": false,
		"color": "default"}
	return []jsonObject{
		{"type": "text", "text": jsonObject{"content": text[:half], "link": nil}, "annotations": plain,
			"plain_text": text[:half], "href": nil},
		{"type": "mention", "mention": jsonObject{"type": "user", "user": samplePerson}, "annotations": plain,
			"plain_text": text[half:], "href": nil},
	}
}

var samplePerson = jsonObject{"object": "user", "id": "person-1"}

func (n *Notion) renderObject(t *simObject) jsonObject {
	o := jsonObject{"object": t.kind, "id": t.id, "created_time": t.created.Format(timeLayout),
		"last_edited_time": t.editedMinute().Format(timeLayout), "archived": !t.isReadable(), "in_trash": !t.isReadable(),
		"parent": t.parent, "icon": nil, "cover": nil, "url": "https://www.notion.so/" + strings.ReplaceAll(t.id, "-", ""),
		"public_url": nil}
	switch t.kind {
	case "page":
		o["created_by"], o["last_edited_by"], o["is_locked"], o["is_archived"] = samplePerson, samplePerson, false, false
		o["properties"] = jsonObject{"Name": jsonObject{"id": "title", "type": "title", "title": richTextOf(t.title)}}
		if t.of != nil {
			o["properties"].(jsonObject)["Due"] = jsonObject{"id": "x", "type": "date",
				"date": jsonObject{"start": "2026-03-01", "end": nil, "time_zone": nil}}
			o["properties"].(jsonObject)["Tags"] = jsonObject{"id": "y", "type": "multi_select",
				"multi_select": []jsonObject{{"id": "1", "name": "home", "color": "red"}}}
			o["properties"].(jsonObject)["Cost"] = jsonObject{"id": "z", "type": "number", "number": nil}
		}
	case "data_source":
		o["created_by"], o["last_edited_by"], o["is_inline"], o["description"], o["title"],
			o["database_parent"] = samplePerson,
			samplePerson, false, []jsonObject{}, richTextOf(t.title), t.of.parent
		o["properties"] = jsonObject{"Name": propertyColumn("title", "Name"), "Due": propertyColumn("date", "Due"),
			"Tags": propertyColumn("multi_select", "Tags"), "Cost": propertyColumn("number", "Cost")}
	default:
		o["is_inline"], o["is_locked"], o["description"], o["title"] = false, false, []jsonObject{}, richTextOf(t.title)
		sources := []jsonObject{}
		for _, source := range n.things {
			if source.of == t && !source.trash && !source.purged {
				sources = append(sources, jsonObject{"id": source.id, "name": source.title})
			}
		}
		o["data_sources"] = sources
	}
	return o
}

func propertyColumn(kind, name string) jsonObject {
	body := jsonObject{}
	switch kind {
	case "multi_select":
		body = jsonObject{"options": []jsonObject{}}
	case "number":
		body = jsonObject{"format": "euro"}
	}
	return jsonObject{"id": kind, "name": name, "description": nil, "type": kind, kind: body}
}

func (b *simBlock) toJSON() jsonObject {
	o := jsonObject{"object": "block", "id": b.id, "type": b.kind, "has_children": len(b.children) > 0 ||
		b.kind == "child_page" || b.kind == "synced_block",
		"parent": jsonObject{"type": "workspace", "workspace": true}, "created_time": b.edited.Format(timeLayout),
		"created_by": samplePerson, "last_edited_by": samplePerson,
		"last_edited_time": b.edited.Truncate(time.Minute).Format(timeLayout), "in_trash": false, "archived": false}
	switch b.kind {
	case "child_page", "child_database":
		o[b.kind] = jsonObject{"title": b.text}
	case "table_row":
		o[b.kind] = jsonObject{"cells": [][]jsonObject{richTextOf(b.text), richTextOf("and more")}}
	case "unsupported":
		o[b.kind] = jsonObject{"block_type": "form"}
	case "synced_block":
		o[b.kind] = jsonObject{"synced_from": jsonObject{"type": "block_id",
			"block_id": "00000000-0000-4000-8000-000000000001"}}
	case "to_do":
		o[b.kind] = jsonObject{"rich_text": richTextOf(b.text), "color": "default", "checked": true}
	case "heading_1":
		o[b.kind] = jsonObject{"rich_text": richTextOf(b.text), "color": "default", "is_toggleable": false}
	case "code":
		o[b.kind] = jsonObject{"rich_text": richTextOf(b.text), "caption": []jsonObject{}, "language": "go"}
	default:
		o[b.kind] = jsonObject{"rich_text": richTextOf(b.text), "color": "default"}
	}
	return o
}

// searchable returns the objects of a kind that search returns.
func (n *Notion) searchable(kind string) []*simObject {
	return rest.Filter(n.things,
		func(t *simObject) bool { return t.kind == kind && t.isReadable() && !t.unlisted && !t.lost })
}

// editedMinute is the time of the last edit as the API shows it.
func (t *simObject) editedMinute() time.Time { return t.edited.Truncate(time.Minute) }

func (n *Notion) findObject(id string) *simObject {
	for _, t := range n.things {
		if t.id == id {
			return t
		}
	}
	return nil
}

func findBlock(blocks []*simBlock, id string) *simBlock {
	for _, b := range blocks {
		if b.id == id {
			return b
		}
		if within := findBlock(b.children, id); within != nil {
			return within
		}
	}
	return nil
}

// elsewhere is the content of a page or a block in another place.
var elsewhere = &simBlock{id: "00000000-0000-4000-8000-00000000000e", kind: "paragraph", text: "elsewhere"}

// truth adds everything that exists now and that search, a query or a page has shown. The content of a page has its
// blocks one below the other, each with the one that holds it.
func (n *Notion) truth(add rest.AddTruth) {
	for _, x := range n.things {
		if x.unlisted && !x.nested && (x.of == nil || !x.of.isReadable()) {
			continue
		}
		add(x.kind+"s", x.id, n.renderObject(x), !x.isReadable())
		if x.kind == "page" {
			add(StreamContents, x.id, jsonObject{"id": x.id, "blocks": flattenBlocks(x.blocks, "")}, !x.isReadable())
		}
	}
}

// isReadable reports whether an object can be read. A data source is deleted with its database, a row is not.
func (t *simObject) isReadable() bool {
	return !t.trash && !t.purged && (t.kind != "data_source" || t.of == nil || t.of.isReadable())
}

func flattenBlocks(blocks []*simBlock, parent string) []jsonObject {
	out := []jsonObject{}
	for _, b := range blocks {
		o := b.toJSON()
		o["held_by"] = parent
		out = append(out, o)
		if !b.closed {
			out = append(out, flattenBlocks(b.children, b.id)...)
		}
	}
	return out
}
