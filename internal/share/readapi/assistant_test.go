package readapi_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pdpp-go/pdpp/internal/share/mcp"
	"github.com/pdpp-go/pdpp/internal/share/readapi"
)

// toolCall returns the call that asks what an address asks; false for what no tool can ask.
func toolCall(path string) (tool string, arguments map[string]any, ok bool) {
	u, err := url.Parse(path)
	if err != nil {
		return "", nil, false
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return "", nil, false
	}
	arguments = map[string]any{}
	var filters []any
	for name, values := range q {
		switch field, isFilter := strings.CutPrefix(name, "filter["); {
		case len(values) > 1, name == "expand", name == "expand[]", name == "limit":
			return "", nil, false
		case isFilter:
			field, op, compared := strings.Cut(strings.TrimSuffix(field, "]"), "][")
			filter := map[string]any{"field": field, "value": values[0]}
			if compared {
				filter["op"] = op
			}
			filters = append(filters, filter)
		case name == "fields":
			arguments[name] = strings.Split(values[0], ",")
		case name == "cursor" && values[0] == "":
			return "", nil, false // the tool begins
		case name == "q":
			arguments["words"] = values[0]
		case name == "changes_since":
			if values[0] != "beginning" {
				arguments["since"] = values[0]
			}
		default:
			arguments[name] = values[0]
		}
	}
	if filters != nil {
		arguments["filters"] = filters
	}
	parts := strings.Split(strings.TrimPrefix(u.EscapedPath(), "/v1/"), "/")
	for i := range parts {
		if parts[i], err = url.PathUnescape(parts[i]); err != nil {
			return "", nil, false
		}
	}
	if len(parts) > 1 {
		arguments["stream"] = parts[1]
	}
	switch {
	case parts[0] == "search":
		return "search", arguments, true
	case parts[0] != "streams":
		return "", nil, false
	case len(parts) == 1:
		return "list_streams", arguments, true
	case len(parts) == 2:
		return "describe_stream", arguments, true
	case parts[2] == "aggregate":
		return "aggregate", arguments, true
	case len(parts) == 4:
		arguments["id"] = parts[3]
		if fields, ok := arguments["fields"].([]string); ok {
			delete(arguments, "fields")
			arguments["field"] = strings.Join(fields, ",")
		}
		return "get_record", arguments, true
	case q.Has("changes_since"):
		return "changes", arguments, len(q) == 1
	}
	return "read_records", arguments, true
}

// withToken sends a token with every request.
type withToken string

func (b withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// The attempts of TestAttacks get no further through the tools of assistants: they find the same, and no answer,
// sentence or error has a word that was not granted.
func TestAttacksThroughTools(t *testing.T) { onBoth(t, testAttacksThroughTools) }

func testAttacksThroughTools(t *testing.T, open opener) {
	w := newWorldOver(t, open(t))
	tokens, tests := attacks(t, w)
	sessions := map[string]*sdk.ClientSession{}
	for name, token := range tokens {
		session, err := sdk.NewClient(&sdk.Implementation{Name: "attack", Version: "1"}, nil).Connect(t.Context(),
			&sdk.StreamableClientTransport{Endpoint: w.address + mcp.Path, MaxRetries: -1, DisableStandaloneSSE: true,
				HTTPClient: &http.Client{Transport: withToken(token)}}, nil)
		check(t, err)
		defer session.Close()
		sessions[name] = session
	}
	tried := map[string]int{}
	for _, tt := range tests {
		tool, arguments, ok := toolCall(tt.path)
		if !ok {
			continue
		}
		tried[tool]++
		answer, err := sessions[tt.grant].CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		body, err := json.Marshal(answer)
		check(t, err)
		if answer.IsError != (tt.status != http.StatusOK) {
			t.Errorf("%s: %s %v answered %s, want %d", tt.name, tool, arguments, body, tt.status)
		}
		if !answer.IsError {
			var found struct {
				Records []struct{ ID string }
				Changes []struct {
					ID      string
					Deleted bool
				}
			}
			structure, err := json.Marshal(answer.StructuredContent)
			check(t, err)
			check(t, json.Unmarshal(structure, &found))
			var ids []string
			for _, r := range found.Records {
				ids = append(ids, r.ID)
			}
			for _, c := range found.Changes {
				ids = append(ids, map[bool]string{true: "-"}[c.Deleted]+c.ID)
			}
			if got := strings.Join(ids, " "); got != tt.want {
				t.Errorf("%s: %s found %q, want %q", tt.name, tool, got, tt.want)
			}
		}
		for _, word := range hidden {
			if strings.Contains(toolCursor.ReplaceAllString(string(body), ""), word) {
				t.Errorf("%s: the answer has %q: %s", tt.name, word, body)
			}
		}
	}
	for _, tool := range []string{"list_streams", "describe_stream", "search", "read_records", "get_record", "changes"} {
		if tried[tool] == 0 {
			t.Errorf("no attempt went through %s", tool)
		}
	}
}

// toolCursor is what is sealed, and has any letters.
var toolCursor = regexp.MustCompile(`\\?"next(_cursor)?\\?":\\?"[^"]*"`)

// assistants returns the handler of assistants over the routes of a world.
func assistants(read *readapi.API, routes http.Handler) http.Handler {
	return mcp.Handler(mcp.HTTPConfig{Routes: routes, Version: "test",
		Admit: func(r *http.Request) (bool, error) {
			who, err := read.Admit(r)
			return err == nil && who.Grant() == nil, err
		},
		Refuse: func(w http.ResponseWriter, r *http.Request, err error) { read.Refuse(w, r, err, "") }})
}
