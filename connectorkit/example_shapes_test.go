package connectorkit_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/protocol"
)

// runOnce plays a runner: it sends START with the state of the run before, prints the records, and returns the new
// state.
func runOnce(connector connectorkit.Connector, streams, state string) (bookmark string) {
	start, runnerStays := io.Pipe()
	defer runnerStays.Close()
	var output strings.Builder
	connectorkit.Run(context.Background(), connector, connectorkit.Process{
		Stdin: io.MultiReader(strings.NewReader(`{"type":"START","run_id":"run_1","collection_mode":"incremental",`+
			`"scope":{"streams":[`+streams+`]},"state":`+state+`,"bindings":{"network":{}},"detail_gaps":[]}`+"\n"),
			start),
		Stdout: &output, Stderr: io.Discard, Env: func(string) string { return "" },
		Now: func() time.Time { return time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC) },
	})
	lines := protocol.NewLineReader(strings.NewReader(output.String()), 0)
	decoder := protocol.NewDecoder(protocol.FromConnector)
	for line, err := lines.Next(); err == nil; line, err = lines.Next() {
		switch m, _ := decoder.Decode(line); m := m.(type) {
		case *protocol.Record:
			if m.Op == protocol.OpDelete {
				m.Data = []byte("deleted")
			}
			fmt.Println(m.Stream, m.Key, string(m.Data))
		case *protocol.State:
			bookmark = fmt.Sprintf(`{%q:%s}`, m.Stream, m.Cursor)
		case *protocol.Done:
			fmt.Println(m.Status, m.RecordsEmitted)
		}
	}
	return bookmark
}

// A FullList reads a whole list in every run, sends what changed, and deletes what the list no longer has.
func ExampleFullList() {
	shelf := []string{"atlas", "herbal"}
	connector := connectorkit.MustNew([]byte(`{
		"protocol_version": "0.1.0", "connector_id": "shelf", "version": "1.0.0", "display_name": "Shelf",
		"runtime_requirements": {"bindings": {"network": {"required": true}}},
		"streams": [{
			"name": "books", "semantics": "mutable_state", "checkpoint": "slice", "primary_key": "id",
			"schema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
		}]
	}`), func(context.Context, *connectorkit.Setup) ([]connectorkit.Collector, error) {
		return []connectorkit.Collector{connectorkit.FullList{
			Stream: "books",
			Page: func(context.Context, connectorkit.PageRequest) (page connectorkit.InventoryPage, err error) {
				for _, id := range shelf {
					page.Things = append(page.Things,
						connectorkit.ListItem{Key: id, Record: connectorkit.Upsert(map[string]any{"id": id})})
				}
				return page, nil
			},
		}}, nil
	})
	state := runOnce(connector, `{"name":"books"}`, "{}")
	shelf = shelf[:1]
	runOnce(connector, `{"name":"books"}`, state)
	// Output:
	// books atlas {"id":"atlas"}
	// books herbal {"id":"herbal"}
	// succeeded 2
	// books atlas {"id":"atlas"}
	// books herbal deleted
	// succeeded 2
}

// A ListDetail reads a list newest first and fetches the details of each item that is new.
func ExampleListDetail() {
	connector := connectorkit.MustNew([]byte(`{
		"protocol_version": "0.1.0", "connector_id": "fernpost", "version": "1.0.0", "display_name": "Fernpost",
		"runtime_requirements": {"bindings": {"network": {"required": true}}},
		"streams": [{
			"name": "threads", "semantics": "mutable_state", "checkpoint": "slice", "primary_key": "id",
			"schema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
		}, {
			"name": "letters", "semantics": "append_only", "checkpoint": "slice", "primary_key": "id",
			"schema": {"type": "object", "properties": {"id": {"type": "string"}, "text": {"type": "string"}},
				"required": ["id"]}
		}]
	}`), func(context.Context, *connectorkit.Setup) ([]connectorkit.Collector, error) {
		return []connectorkit.Collector{connectorkit.ListDetail{
			List: "threads", Detail: "letters",
			ListPage: func(context.Context, connectorkit.Window) (connectorkit.ListPage, error) {
				return connectorkit.ListPage{Items: []connectorkit.Item{{
					Key: "7", Time: time.Date(2024, 4, 30, 8, 0, 0, 0, time.UTC),
					Record: connectorkit.Upsert(map[string]any{"id": "7"}),
				}}}, nil
			},
			Fetch: func(_ context.Context, item connectorkit.Item) ([]connectorkit.Record, error) {
				return []connectorkit.Record{connectorkit.Upsert(map[string]any{"id": item.Key + "-1", "text": "Dear Ada"})}, nil
			},
		}}, nil
	})
	state := runOnce(connector, `{"name":"threads"},{"name":"letters"}`, "{}")
	runOnce(connector, `{"name":"threads"},{"name":"letters"}`, state)
	// Output:
	// threads 7 {"id":"7"}
	// letters 7-1 {"id":"7-1","text":"Dear Ada"}
	// succeeded 2
	// succeeded 0
}
