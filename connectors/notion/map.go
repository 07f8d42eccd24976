package notion

import (
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// canonicalID formats an id with dashes; Notion uses both forms.
func canonicalID(id string) string {
	bare := strings.ReplaceAll(id, "-", "")
	if len(bare) != 32 || strings.Trim(bare, "0123456789abcdefABCDEF") != "" {
		return id
	}
	bare = strings.ToLower(bare)
	return strings.Join([]string{bare[:8], bare[8:12], bare[12:16], bare[16:20], bare[20:]}, "-")
}

// richTextPieces is text in pieces, as Notion returns it.
type richTextPieces []struct {
	Plain string `json:"plain_text"`
}

func (r richTextPieces) String() string {
	var b strings.Builder
	for _, piece := range r {
		b.WriteString(piece.Plain)
	}
	return b.String()
}

// commonObject is what pages and databases share.
type commonObject struct {
	ID       string    `json:"id"`
	Created  string    `json:"created_time"`
	Edited   string    `json:"last_edited_time"`
	Archived bool      `json:"archived"`
	Trash    bool      `json:"in_trash"`
	URL      string    `json:"url"`
	Parent   parentRef `json:"parent"`
}

// parentRef refers to the parent of an object. The member that its type names holds the id; the workspace has none.
type parentRef map[string]any

func (p parentRef) parentKind() string { text, _ := p["type"].(string); return text }

func (p parentRef) parentID() string { text, _ := p[p.parentKind()].(string); return canonicalID(text) }

type userRef struct {
	ID string `json:"id"`
}

type pageRecord struct {
	ID         string `json:"id"`
	Object     string `json:"object"`
	ParentType string `json:"parent_type,omitzero"`
	Parent     string `json:"parent_id,omitzero"`
	Title      string `json:"title,omitzero"`
	URL        string `json:"url,omitzero"`
	Archived   bool   `json:"archived"`
	Created    string `json:"created_time,omitzero"`
	Edited     string `json:"last_edited_time,omitzero"`
	CreatedBy  string `json:"created_by_id,omitzero"`
	EditedBy   string `json:"last_edited_by_id,omitzero"`
	Database   string `json:"database_id,omitzero"` // of a row

	Properties map[string]any `json:"properties,omitzero"`
}

func readPageItem(raw jsontext.Value) connectorkit.Item {
	var p struct {
		commonObject
		CreatedBy  userRef                   `json:"created_by"`
		EditedBy   userRef                   `json:"last_edited_by"`
		Properties map[string]jsontext.Value `json:"properties"`
	}
	err := json.Unmarshal(raw, &p)
	at, untimed := time.Parse(time.RFC3339Nano, p.Edited)
	if err != nil || untimed != nil || p.ID == "" {
		return connectorkit.Item{Record: connectorkit.Unreadable(p.ID, err)}
	}
	id := canonicalID(p.ID)
	if p.Archived || p.Trash {
		return connectorkit.Item{Key: id, Time: at, Record: connectorkit.Delete(id)}
	}
	r := pageRecord{ID: id, Object: "page", ParentType: p.Parent.parentKind(), Parent: p.Parent.parentID(), URL: p.URL,
		Created: p.Created, Edited: p.Edited, CreatedBy: canonicalID(p.CreatedBy.ID), EditedBy: canonicalID(p.EditedBy.ID)}
	if id, _ := p.Parent["database_id"].(string); id != "" {
		r.Database = canonicalID(id)
	}
	for name, property := range p.Properties {
		kind, value := propertyValue(property)
		if kind == "title" {
			r.Title, _ = value.(string)
		} else if value != nil {
			if r.Properties == nil {
				r.Properties = map[string]any{}
			}
			r.Properties[name] = value
		}
	}
	return connectorkit.Item{Key: id, Time: at, Record: connectorkit.Upsert(r)}
}

type databaseRecord struct {
	ID          string   `json:"id"`
	Title       string   `json:"title,omitzero"`
	Description string   `json:"description,omitzero"`
	ParentType  string   `json:"parent_type,omitzero"`
	Parent      string   `json:"parent_id,omitzero"`
	URL         string   `json:"url,omitzero"`
	Archived    bool     `json:"archived"`
	Created     string   `json:"created_time,omitzero"`
	Edited      string   `json:"last_edited_time,omitzero"`
	Properties  []string `json:"property_names"`
	Sources     []string `json:"data_source_ids,omitzero"`
}

// readDatabase reads a database. Its columns are those of its data sources.
func readDatabase(raw jsontext.Value, columns []string) connectorkit.Record {
	var d struct {
		commonObject
		Title       richTextPieces `json:"title"`
		Description richTextPieces `json:"description"`
		Sources     []userRef      `json:"data_sources"`
	}
	if err := json.Unmarshal(raw, &d); err != nil || d.ID == "" {
		return connectorkit.Unreadable(d.ID, err)
	}
	r := databaseRecord{
		ID: canonicalID(d.ID), Title: d.Title.String(), Description: d.Description.String(),
		ParentType: d.Parent.parentKind(),
		Parent:     d.Parent.parentID(), URL: d.URL,
		Created: d.Created, Edited: d.Edited, Properties: append([]string{}, columns...),
	}
	slices.Sort(r.Properties)
	r.Properties = slices.Compact(r.Properties)
	for _, s := range d.Sources {
		r.Sources = append(r.Sources, canonicalID(s.ID))
	}
	return connectorkit.Upsert(r)
}

type sourceRecord struct {
	ID          string            `json:"id"`
	Database    string            `json:"database_id,omitzero"`
	Title       string            `json:"title,omitzero"`
	Description string            `json:"description,omitzero"`
	URL         string            `json:"url,omitzero"`
	Created     string            `json:"created_time,omitzero"`
	Edited      string            `json:"last_edited_time,omitzero"`
	Columns     map[string]string `json:"columns"`
}

// readSource reads a data source; no id when it cannot be read.
func readSource(raw jsontext.Value) (dataSource, connectorkit.Record) {
	var d struct {
		commonObject
		Title       richTextPieces `json:"title"`
		Description richTextPieces `json:"description"`
		Properties  map[string]struct {
			Type string `json:"type"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(raw, &d); err != nil || d.ID == "" {
		return dataSource{}, connectorkit.Unreadable(d.ID, err)
	}
	database, _ := d.Parent["database_id"].(string)
	r := sourceRecord{
		ID: canonicalID(d.ID), Database: canonicalID(database), Title: d.Title.String(), Description: d.Description.String(),
		URL: d.URL, Created: d.Created, Edited: d.Edited,
		Columns: map[string]string{},
	}
	s := dataSource{id: r.ID, database: r.Database, edited: r.Edited}
	for name, column := range d.Properties {
		r.Columns[name] = column.Type
		s.columns = append(s.columns, name)
	}
	if d.Archived || d.Trash {
		return dataSource{}, connectorkit.Delete(r.ID)
	}
	return s, connectorkit.Upsert(r)
}

// contentRecord is the content of a page. All blocks are in one record: Notion does not report removed blocks, and a
// new read replaces the whole record.
type contentRecord struct {
	ID     string        `json:"id"`
	Text   string        `json:"text,omitzero"`
	Count  int           `json:"block_count"`
	Blocks []blockRecord `json:"blocks"`
}

type blockRecord struct {
	ID     string `json:"id"`
	Parent string `json:"parent_id,omitzero"` // a block; empty for those of the page itself
	Type   string `json:"type"`
	Text   string `json:"text,omitzero"`
	Edited string `json:"last_edited_time,omitzero"`
}

func (c contentRecord) withDefaults() contentRecord {
	c.Count = len(c.Blocks)
	var lines []string
	for _, b := range c.Blocks {
		if b.Text != "" {
			lines = append(lines, b.Text)
		}
	}
	c.Text = strings.Join(lines, "\n")
	return c
}

// readBlockRecord reads a block and reports whether its children belong to its page. Addresses of files are left out,
// because they expire after an hour.
func readBlockRecord(raw jsontext.Value) (b blockRecord, inside bool, err error) {
	var wire struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Edited   string `json:"last_edited_time"`
		Children bool   `json:"has_children"`
	}
	if err := json.Unmarshal(raw, &wire); err != nil {
		return b, false, err
	}
	b = blockRecord{ID: canonicalID(wire.ID), Type: wire.Type, Edited: wire.Edited}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(raw, &members); err != nil {
		return b, false, err
	}
	var own struct {
		Rich       richTextPieces   `json:"rich_text"`
		Cells      []richTextPieces `json:"cells"`
		Title      string           `json:"title"`
		Expression string           `json:"expression"`
		URL        string           `json:"url"`
		Caption    richTextPieces   `json:"caption"`
		From       *struct {
			Block string `json:"block_id"`
		} `json:"synced_from"`
	}
	if body := members[wire.Type]; body.Kind() == '{' {
		_ = json.Unmarshal(body, &own) // a type that is not known yet keeps its name and its id
	}
	var cells []string
	for _, cell := range own.Cells {
		cells = append(cells, cell.String())
	}
	for _, text := range []string{own.Rich.String(), strings.Join(cells, "\t"), own.Title, own.Expression,
		own.Caption.String(), own.URL} {
		if b.Text == "" {
			b.Text = text
		}
	}
	elsewhere := wire.Type == "child_page" || wire.Type == "child_database" || wire.Type == "link_to_page" ||
		own.From != nil
	return b, wire.Children && !elsewhere, nil
}
