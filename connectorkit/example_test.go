package connectorkit_test

import (
	"context"
	"fmt"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// A connector is a manifest and a function that returns what to collect. A program
// hands it to connectorkit.Main; here a runner's START comes from a text.
func Example() {
	connector := connectorkit.MustNew([]byte(`{
		"protocol_version": "0.1.0", "connector_id": "fernpost", "version": "1.0.0", "display_name": "Fernpost",
		"runtime_requirements": {"bindings": {"network": {"required": true}}},
		"streams": [{
			"name": "letters", "semantics": "append_only", "checkpoint": "slice", "primary_key": "id",
			"schema": {"type": "object", "properties": {"id": {"type": "string"}, "text": {"type": "string"}},`+
		` "required": ["id", "text"]}
		}]
	}`), func(_ context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
		// A real one makes its client with s.HTTP and asks the provider in Page.
		return []connectorkit.Collector{
			connectorkit.PagedStream{
				Stream: "letters",
				Page: func(_ context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
					return connectorkit.Page{
						Records: []connectorkit.Record{connectorkit.Upsert(map[string]any{"id": "7", "text": "Dear Ada"})},
						Next:    connectorkit.Cursor{"after": "7"},
					}, nil
				},
			},
		}, nil
	})

	fmt.Println("bookmark", runOnce(connector, `{"name":"letters"}`, "{}"))
	// Output:
	// letters 7 {"id":"7","text":"Dear Ada"}
	// succeeded 1
	// bookmark {"letters":{"after":"7"}}
}
