package mcp_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/pdpp-go/pdpp/internal/share/mcp"
)

// overEach runs a test over HTTP and in memory, with both kinds of protocol revision.
func overEach(t *testing.T, w *world, token string, test func(t *testing.T, s *sdk.ClientSession)) {
	for _, revision := range []string{handshake, stateless} {
		t.Run("http "+revision, func(t *testing.T) { test(t, w.connect(token, revision)) })
		t.Run("memory "+revision, func(t *testing.T) {
			server := mcp.NewServer(mcp.Config{Version: "test", Reader: mcp.Reader{Base: "http://pdpp", Token: token,
				Transport: mcp.HandlerTransport(w.routes)}})
			here, there := sdk.NewInMemoryTransports()
			running, err := server.Connect(t.Context(), there, nil)
			check(t, err)
			defer running.Close()
			test(t, dial(t, here, revision))
		})
	}
}

// Every tool answers with records of the grant, a sentence about coverage first, and a structure that fits its schema.
func TestToolsAnswerWithCoverage(t *testing.T) {
	w := newWorld(t, inSQLite(t))
	w.furnish()
	_, token := w.grant(bookings)
	calls := []struct {
		tool      string
		arguments map[string]any
		want      string // part of the sentence
		ids       string
	}{
		{"list_streams", nil, "1 stream may be read.", ""},
		{"describe_stream", map[string]any{"stream": "bookings"}, "The stream bookings", ""},
		{"search", map[string]any{"words": "harbour"}, "2 records of what is held.", "b2 b1"},
		{"search", map[string]any{"words": "walrus"}, "Nothing in what is held.", ""},
		{"read_records", map[string]any{"stream": "bookings", "filters": []any{
			map[string]any{"field": "booked_at", "op": "gte", "value": "2026-03-01T00:00:00Z"}}}, "2 records", "b2 b3"},
		{"get_record", map[string]any{"stream": "bookings", "id": "b1"}, "The record as it is held.", ""},
		{"aggregate", map[string]any{"stream": "bookings", "metric": "sum", "field": "amount", "group_by": "payee"},
			"Totals of what is held.", ""},
		{"changes", map[string]any{"stream": "bookings"}, "3 changes in what is held.", "b1 b2 b3"},
		{"completeness", nil, "Purse (bookings) is not known to be complete.", ""},
	}
	overEach(t, w, token, func(t *testing.T, s *sdk.ClientSession) {
		listed, err := s.ListTools(t.Context(), nil)
		check(t, err)
		schemas := map[string]any{}
		for _, tool := range listed.Tools {
			schemas[tool.Name] = tool.OutputSchema
			if !tool.Annotations.ReadOnlyHint || !tool.Annotations.IdempotentHint {
				t.Errorf("%s is not marked as read-only and idempotent", tool.Name)
			}
		}
		if len(schemas) != 8 {
			t.Errorf("there are %d tools, want 8", len(schemas))
		}
		for _, c := range calls {
			got := call(t, s, c.tool, c.arguments)
			if got.failed || !strings.Contains(got.sentence, c.want) || got.ids() != c.ids {
				t.Errorf("%s answered %q with %q: %v", c.tool, got.sentence, got.ids(), got.whole)
			}
			covered, _ := got.data["coverage"].([]any)
			if len(covered) != 1 || !strings.Contains(got.sentence, "Purse (bookings) is not known to be complete.") {
				t.Errorf("%s: coverage %v, sentence %q", c.tool, covered, got.sentence)
			}
			fits(t, c.tool, schemas[c.tool], got.data)
		}
		total := call(t, s, "aggregate", map[string]any{"stream": "bookings", "metric": "sum", "field": "amount",
			"filters": []any{map[string]any{"field": "payee", "value": "Harbour"}}})
		if !strings.Contains(total.whole, `"value":19.75`) {
			t.Errorf("the sum is not 19.75: %s", total.whole)
		}
	})
}

// fits validates a structure with a library that did not write the schema.
func fits(t *testing.T, tool string, schema, structure any) {
	t.Helper()
	body, err := json.Marshal(schema)
	check(t, err)
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(body)))
	check(t, err)
	c := jsonschema.NewCompiler()
	check(t, c.AddResource("tool.json", document))
	compiled, err := c.Compile("tool.json")
	check(t, err)
	if err := compiled.Validate(structure); err != nil {
		t.Errorf("%s: %v", tool, err)
	}
}

// What only an owner may know is in the answers to owners, and in no answer to a grant.
func TestOnlyOwnersLearnReasons(t *testing.T) {
	w := newWorld(t, inSQLite(t))
	w.furnish()
	_, token := w.grant(bookings)
	for _, revision := range []string{handshake, stateless} {
		own, other := w.connect(ownerToken, revision), w.connect(token, revision)
		for _, tool := range []string{"completeness", "list_streams"} {
			if got := call(t, own, tool, nil); !strings.Contains(got.sentence, "3 bookings could not be read.") ||
				got.data["missing"] == nil {
				t.Errorf("%s answered the owner %s", tool, got.whole)
			}
			before := w.owner.calls.Load()
			if got := call(t, other, tool, nil); strings.Contains(got.whole, "could not") || got.data["missing"] != nil ||
				w.owner.calls.Load() != before {
				t.Errorf("%s answered a grant %s", tool, got.whole)
			}
		}
		versions := map[string]any{"stream": "bookings", "id": "b1", "versions": true}
		if got := call(t, own, "get_record", versions); !strings.Contains(got.whole, "Old Harbour") {
			t.Errorf("the owner got %s", got.whole)
		}
		if got := call(t, other, "get_record", versions); !got.failed || strings.Contains(got.whole, "Old Harbour") {
			t.Errorf("a grant got %s", got.whole)
		}
		listed, err := own.ListTools(t.Context(), nil)
		check(t, err)
		if slices.ContainsFunc(listed.Tools, func(x *sdk.Tool) bool { return x.Name == "run_now" }) {
			t.Error("an owner can operate over HTTP")
		}
	}
}
