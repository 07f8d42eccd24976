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

// A connector is a manifest and a function that returns what to collect. A program
// hands it to connectorkit.Main; here a runner's START comes from a text.
func Example() {
	connector := connectorkit.MustNew([]byte(`{
		"protocol_version": "0.1.0", "connector_id": "fernpost", "version": "1.0.0", "display_name": "Fernpost",
		"runtime_requirements": {"bindings": {"network": {"required": true}}},
		"streams": [{
			"name": "letters", "semantics": "append_only", "checkpoint": "slice", "primary_key": "id",
			"schema": {"type": "object", "properties": {"id": {"type": "string"}, "text": {"type": "string"}}, "required": ["id", "text"]}
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

	start, runnerStays := io.Pipe()
	defer runnerStays.Close()
	var said strings.Builder
	code := connectorkit.Run(context.Background(), connector, connectorkit.Process{
		Stdin: io.MultiReader(strings.NewReader(`{"type":"START","run_id":"run_1","collection_mode":"incremental",`+
			`"scope":{"streams":[{"name":"letters"}]},"bindings":{"network":{}},"detail_gaps":[]}`+"\n"), start),
		Stdout: &said, Stderr: io.Discard, Env: func(string) string { return "" },
		Now: func() time.Time { return time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC) },
	})
	lines, dec := protocol.NewLineReader(strings.NewReader(said.String()), 0), protocol.NewDecoder(protocol.FromConnector)
	for {
		line, err := lines.Next()
		if err != nil {
			break
		}
		switch m, err := dec.Decode(line); m := m.(type) {
		case *protocol.Record:
			fmt.Println("record", m.Key, string(m.Data), err)
		case *protocol.State:
			fmt.Println("bookmark", string(m.Cursor), err)
		case *protocol.Done:
			fmt.Println("done", m.Status, m.RecordsEmitted, err)
		}
	}
	fmt.Println("exit code", code)
	// Output:
	// record 7 {"id":"7","text":"Dear Ada"} <nil>
	// bookmark {"after":"7"} <nil>
	// done succeeded 1 <nil>
	// exit code 0
}
