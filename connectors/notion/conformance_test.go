//pdpp:tier programs

package notion_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/notion"
)

// TestConformance holds the connector to the suite; long, to all of it.
func TestConformance(t *testing.T) {
	// The lists are long enough for a limit to cut them short before the first content.
	small := notion.Config{Seed: 5, Pages: 12, Databases: 10, Blocks: 7, Nested: true, MaxPage: 3}
	// A page that is read with one request keeps the count of requests and of pages the same.
	large := notion.Config{Seed: 5, Pages: 45, Databases: 40, Blocks: 6, MaxPage: 9}
	connectortest.RunSuite(t, target(t, small), target(t, large))
}

const token = "ntn_under_test"

func target(t *testing.T, cfg notion.Config) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector:  connectortest.BuiltInConnector(t, "notion"),
		Start:      func(t *testing.T) *connectortest.Sim { return start(t, cfg) },
		Credential: "NOTION_API_TOKEN",
		Changes: []providersim.Mutation{
			{Op: "write", N: 2}, {Op: "edit", N: 2}, {Op: "rename", N: 1}, {Op: "remove_blocks", N: 1}, {Op: "add_blocks", N: 1},
			{Op: "redesign", N: 1},
			{Op: "add_database", N: 1}, {Op: "trash_database", N: 1}, {Op: "import", N: 1}, {Op: "index", N: 1},
			{Op: "hide_row", N: 1},
		},
		Deletion: providersim.Mutation{Op: "trash", N: 2}, DeletedStream: notion.StreamPages,
		Lane: &connectortest.ListDetailParts{
			List: notion.StreamPages, Detail: notion.StreamContents, DetailPath: "/v1/blocks/", TimeField: "last_edited_time",
			AtOnce: 4,
			Item: func(data json.RawMessage) string {
				var content struct{ ID string }
				if json.Unmarshal(data, &content) != nil {
					return ""
				}
				return content.ID
			},
		},
		Scoped: notion.StreamPages, OptionalField: "title",
		Stored: stored,
	}
}

func start(t *testing.T, cfg notion.Config) *connectortest.Sim {
	t.Helper()
	cfg.Token = token
	s, err := notion.Start(cfg)
	if err != nil {
		t.Fatalf("start provider: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &connectortest.Sim{Provider: s.Sim, Gate: s.Sim.Gate(),
		Env: map[string]string{"NOTION_API_TOKEN": token, "PDPP_NOTION_BASE_URL": s.BaseURL, "PDPP_NOTION_CENSUS": "1ms"}}
}

// stored returns the record that the store must hold for an object of Notion, independent of the connector's mapping.
func stored(stream, _ string, data json.RawMessage) (json.RawMessage, error) {
	var w map[string]any
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, err
	}
	if stream == notion.StreamContents {
		return content(w)
	}
	r := map[string]any{}
	for _, name := range []string{"id", "url", "created_time", "last_edited_time"} {
		r[name] = w[name]
	}
	parent := w["parent"].(map[string]any)
	if stream == notion.StreamSources {
		r["title"], r["database_id"] = plain(w["title"]), parent["database_id"]
		r["columns"] = map[string]string{"Name": "title", "Due": "date", "Tags": "multi_select", "Cost": "number"}
		return json.Marshal(r)
	}
	r["parent_type"], r["archived"] = parent["type"], w["archived"]
	if stream == notion.StreamDatabases {
		r["title"] = plain(w["title"])
		r["property_names"] = []string{"Cost", "Due", "Name", "Tags"}
		var sources []any
		for _, source := range w["data_sources"].([]any) {
			sources = append(sources, source.(map[string]any)["id"])
		}
		r["data_source_ids"] = sources
		return json.Marshal(r)
	}
	if id, ok := parent["data_source_id"].(string); ok {
		r["parent_id"], r["database_id"] = strings.Join([]string{id[:8], id[8:12], id[12:16], id[16:20], id[20:]}, "-"),
			parent["database_id"]
		r["properties"] = map[string]any{"Due": map[string]any{"start": "2026-03-01"}, "Tags": []string{"home"}}
	}
	if id, ok := parent["page_id"].(string); ok {
		r["parent_id"] = id
	}
	r["object"] = "page"
	r["title"] = plain(w["properties"].(map[string]any)["Name"].(map[string]any)["title"])
	for name, from := range map[string]string{"created_by_id": "created_by", "last_edited_by_id": "last_edited_by"} {
		r[name] = w[from].(map[string]any)["id"]
	}
	return json.Marshal(r)
}

// plain is the text of pieces.
func plain(pieces any) string {
	text := ""
	list, _ := pieces.([]any)
	for _, piece := range list {
		text += piece.(map[string]any)["plain_text"].(string)
	}
	return text
}

func content(w map[string]any) (json.RawMessage, error) {
	blocks, lines := []any{}, []string{}
	for _, each := range w["blocks"].([]any) {
		from := each.(map[string]any)
		b := map[string]any{"id": from["id"], "type": from["type"], "last_edited_time": from["last_edited_time"]}
		if from["held_by"] != "" {
			b["parent_id"] = from["held_by"]
		}
		body := from[from["type"].(string)].(map[string]any)
		text := plain(body["rich_text"])
		if title, ok := body["title"].(string); ok {
			text = title
		}
		if cells, ok := body["cells"].([]any); ok {
			text = plain(cells[0]) + "\t" + plain(cells[1])
		}
		if text != "" {
			b["text"] = text
			lines = append(lines, text)
		}
		blocks = append(blocks, b)
	}
	r := map[string]any{"id": w["id"], "block_count": len(blocks), "blocks": blocks}
	if text := strings.Join(slices.Clip(lines), "\n"); text != "" {
		r["text"] = text
	}
	return json.Marshal(r)
}
