package rest_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
)

// A source is a manifest and a declaration. Only fields with another name in the answer are listed.
func Example() {
	connector := rest.MustNew([]byte(`{
		"protocol_version": "0.1.0", "connector_id": "fernpost", "version": "1.0.0", "display_name": "Fernpost",
		"runtime_requirements": {"bindings": {"network": {"required": true}}},
		"streams": [{
			"name": "letters", "semantics": "mutable_state", "checkpoint": "slice", "primary_key": "id",
			"schema": {"type": "object", "required": ["id"], "properties": {
				"id": {"type": "string"}, "subject": {"type": "string"}, "size_bytes": {"type": "integer"}}}
		}]
	}`), rest.Source{
		BaseURL: "https://api.fernpost.example",
		Streams: []rest.Stream{{
			Name:    "letters",
			Request: rest.Request{Path: "v1/letters"},
			Items:   "letters",
			Pages:   rest.NextToken{Param: "page", Member: "next"},
			Fields:  rest.Fields{"id": rest.NumberText("number"), "size_bytes": rest.From("body.size")},
		}},
	})
	runOnce(connector, map[string]string{
		"/v1/letters":        `{"letters":[{"number":7,"subject":"Dear Ada","body":{"size":120}}],"next":"b"}`,
		"/v1/letters?page=b": `{"letters":[{"number":9007199254740993,"subject":"Dear Bo"}],"next":null}`,
	})
	// Output:
	// {"id":"7","subject":"Dear Ada","size_bytes":120}
	// {"id":"9007199254740993","subject":"Dear Bo"}
	// succeeded
}

// A stream can be read once for each item of another stream. Hooks in Go do what a declaration cannot.
func Example_children() {
	const stream = `"semantics": "mutable_state", "checkpoint": "slice", "primary_key": "id",
		"schema": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"},
			"folder_id": {"type": "string"}, "words": {"type": "integer"}}}`
	connector := rest.MustNew([]byte(`{
		"protocol_version": "0.1.0", "connector_id": "fernpost", "version": "1.0.0", "display_name": "Fernpost",
		"runtime_requirements": {"bindings": {"network": {"required": true}}},
		"streams": [{"name": "folders", `+stream+`}, {"name": "letters", `+stream+`}]
	}`), rest.Source{
		BaseURL: "https://api.fernpost.example",
		Streams: []rest.Stream{
			{Name: "folders", Request: rest.Request{Path: "folders"}, Shared: true},
			{Name: "letters", Request: rest.Request{Path: "folders/{id}/letters"},
				Partitions: rest.ParentsOf("folders", "id", nil, nil),
				Fields: rest.Fields{
					"folder_id": rest.FromPartition("id"),
					"words": rest.Computed(func(i rest.Item) (jsontext.Value, error) {
						return json.Marshal(len(strings.Fields(i.Text("text"))))
					}),
				}},
		},
	})
	runOnce(connector, map[string]string{
		"/folders":            `[{"id":"in"},{"id":"out"}]`,
		"/folders/in/letters": `[{"id":"1","text":"Dear Ada"}]`, "/folders/out/letters": `[]`,
	})
	// Output:
	// {"id":"in"}
	// {"id":"out"}
	// {"id":"1","folder_id":"in","words":2}
	// succeeded
}

// answers is a provider with fixed answers by address.
type answers map[string]string

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: r,
		Body: io.NopCloser(strings.NewReader(a[r.URL.RequestURI()]))}, nil
}

// runOnce runs a connector with all of its streams and prints records and outcome.
func runOnce(c connectorkit.Connector, a answers) {
	var streams []string
	for _, s := range c.Manifest.Streams {
		streams = append(streams, fmt.Sprintf(`{"name":%q}`, s.Name))
	}
	start := `{"type":"START","run_id":"r","collection_mode":"incremental","scope":{"streams":[` +
		strings.Join(streams, ",") + `]},"state":null,"bindings":{"network":{}},"detail_gaps":[]}` + "\n"
	stdin, w := io.Pipe()
	defer w.Close()
	var out bytes.Buffer
	connectorkit.Run(context.Background(), c, connectorkit.Process{Stdin: io.MultiReader(strings.NewReader(start), stdin),
		Stdout: &out, Stderr: io.Discard, Env: func(string) string { return "" }, Now: time.Now, Transport: a})
	for line := range strings.Lines(out.String()) {
		var m struct {
			Type   string         `json:"type"`
			Data   jsontext.Value `json:"data"`
			Status string         `json:"status"`
		}
		if json.Unmarshal([]byte(line), &m) != nil {
			continue
		}
		switch m.Type {
		case "RECORD":
			fmt.Println(string(m.Data))
		case "DONE":
			fmt.Println(m.Status)
		}
	}
}
