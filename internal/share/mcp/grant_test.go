package mcp_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/share/mcp"
)

// A field that was not granted cannot be reached through any tool: by ranking, filter, aggregation, window or error.
func TestHiddenFieldsStayHidden(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.furnish()
		since, until := day(3, 1), day(4, 1)
		_, token := w.grant(grants.Stream{ConnectionID: "mine", Stream: "bookings", Since: &since, Until: &until,
			Fields: []string{"payee", "amount", "booked_at"}},
			grants.Stream{ConnectionID: "mine", Stream: "notes", Fields: []string{"text"}})
		s := w.connect(token, stateless)
		secret := map[string]any{"field": "secret", "value": "quokka"}
		for i, tt := range []struct {
			tool      string
			arguments map[string]any
			code      string // of the refusal; empty for an answer
			ids       string
		}{
			{"read_records", map[string]any{"stream": "bookings"}, "", "b2 b3"},
			{"read_records", map[string]any{"stream": "bookings", "fields": []string{"secret"}}, "insufficient_scope", ""},
			{"read_records", map[string]any{"stream": "bookings", "filters": []any{secret}}, "insufficient_scope", ""},
			{"aggregate", map[string]any{"stream": "bookings", "filters": []any{secret}}, "insufficient_scope", ""},
			{"aggregate", map[string]any{"stream": "bookings", "group_by": "secret"}, "insufficient_scope", ""},
			{"aggregate", map[string]any{"stream": "bookings", "metric": "max", "field": "secret"}, "insufficient_scope", ""},
			{"get_record", map[string]any{"stream": "bookings", "id": "b2", "field": "secret"}, "insufficient_scope", ""},
			{"get_record", map[string]any{"stream": "bookings", "id": "b1"}, "not_found", ""},
			// Ranking would reveal a word of the hidden field of notes, so that the stream cannot be searched.
			{"search", map[string]any{"words": "okapi"}, "", ""},
			{"search", map[string]any{"words": "pear", "stream": "notes"}, "insufficient_scope", ""},
			{"search", map[string]any{"words": "zebra"}, "", ""},
			{"changes", map[string]any{"stream": "bookings"}, "", "b2 b3"},
			{"completeness", nil, "", ""},
			{"list_streams", nil, "", ""},
			{"describe_stream", map[string]any{"stream": "bookings"}, "", ""},
			{"describe_stream", map[string]any{"stream": "elsewhere"}, "insufficient_scope", ""},
		} {
			got := call(t, s, tt.tool, tt.arguments)
			if got.failed != (tt.code != "") || !strings.Contains(got.sentence, tt.code) || got.ids() != tt.ids {
				t.Errorf("%d: %s answered %q %s", i, tt.tool, got.ids(), got.whole)
			}
			for _, word := range []string{"zebra", "quokka", "ibex", "okapi", "12.5", `"b1"`, "hidden"} {
				if strings.Contains(got.whole, word) {
					t.Errorf("%d: %s answered with %q: %s", i, tt.tool, word, got.whole)
				}
			}
		}
		total := call(t, s, "aggregate", map[string]any{"stream": "bookings", "metric": "sum", "field": "amount"})
		if !strings.Contains(total.whole, `"value":10.25`) {
			t.Errorf("the sum reaches beyond the grant: %s", total.whole)
		}
	})
}

// A grant that ends while it is used reads nothing more, and its reads are counted until then.
func TestRevokedGrantReadsNothing(t *testing.T) {
	w := newWorld(t, inSQLite(t))
	w.furnish()
	for _, revision := range []string{handshake, stateless} {
		id, token := w.grant(bookings)
		s := w.connect(token, revision)
		if got := call(t, s, "search", map[string]any{"words": "harbour"}); got.ids() != "b2 b1" {
			t.Fatalf("it found %s", got.whole)
		}
		g, err := w.grants.One(t.Context(), id)
		check(t, err)
		if g.Records != 2 || g.Uses != 1 {
			t.Errorf("%d records in %d uses are counted, want 2 in 1", g.Records, g.Uses)
		}
		check(t, w.grants.Revoke(t.Context(), id))
		answer, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "search",
			Arguments: map[string]any{"words": "harbour"}})
		if err == nil && !answer.IsError {
			t.Errorf("%s: a revoked grant was answered: %+v", revision, answer)
		}
		if got := w.status(token, "POST", mcp.Path, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); got != 401 {
			t.Errorf("%s: a revoked grant is answered with %d, want 401", revision, got)
		}
	}
}

// A token that was issued for assistants reads nothing at another address, and the other way round.
func TestTokenIsForOneAddress(t *testing.T) {
	w := newWorld(t, inSQLite(t))
	w.furnish()
	app, err := w.grants.Register(t.Context(), "Assistant", []string{"https://app.example/back"}, false)
	check(t, err)
	const verifier = "a-verifier-that-is-long-enough-to-be-one-0123456789"
	sum := sha256.Sum256([]byte(verifier))
	for audience, want := range map[grants.Audience][2]int{grants.AnyAudience: {200, 200},
		grants.APIAudience: {200, 401}, grants.AssistantAudience: {401, 200}} {
		request, err := w.grants.Request(t.Context(), grants.Ask{ClientID: app.ID, RedirectURI: app.RedirectURIs[0],
			CodeChallenge: base64.RawURLEncoding.EncodeToString(sum[:]), Audience: audience})
		check(t, err)
		back, _, err := w.grants.Decide(t.Context(), request, grants.Decision{Approve: true,
			Streams: grants.GrantedStreams{bookings}})
		check(t, err)
		u, err := url.Parse(back)
		check(t, err)
		_, token, err := w.grants.Redeem(t.Context(), u.Query().Get("code"), verifier, app.ID, app.RedirectURIs[0])
		check(t, err)
		if got := [2]int{w.status(token, "GET", "/v1/streams", ""), w.status(token, "POST", mcp.Path,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_streams"}}`)}; got != want {
			t.Errorf("%q: /v1 and /mcp answer %v, want %v", audience, got, want)
		}
	}
	once, token, err := w.grants.Create(t.Context(), grants.New{ClientName: "Once", Purpose: "x", Mode: "single_use",
		Scope: grants.GrantedStreams{bookings}})
	check(t, err)
	if got := w.status(token, "POST", mcp.Path, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); got != 403 {
		t.Errorf("the single-use grant %s is answered with %d", once.ID, got)
	}
}

// status returns the status of an answer.
func (w *world) status(token, method, path, body string) int {
	w.t.Helper()
	q, err := http.NewRequestWithContext(w.t.Context(), method, w.address+path, strings.NewReader(body))
	check(w.t, err)
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "application/json, text/event-stream")
	q.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(q)
	check(w.t, err)
	check(w.t, answer.Body.Close())
	return answer.StatusCode
}

// Answers stay small: 25 records, 64 kB with both forms. What is cut is read in windows, without a gap.
func TestAnswersAreBounded(t *testing.T) {
	w := newWorld(t, inSQLite(t))
	text := strings.Repeat("ä\"ö\\ü", 3000)
	for i := range 30 {
		w.put(note(fmt.Sprint("n", i), text, strings.Repeat("x", 3000)))
	}
	_, token := w.grant(grants.Stream{ConnectionID: "mine", Stream: "notes"})
	s := w.connect(token, stateless)
	for _, limit := range []int{0, 100} {
		got := call(t, s, "read_records", map[string]any{"stream": "notes", "limit": limit})
		if records := got.data["records"].([]any); len(records) != 25 || len(got.whole) > 64<<10 {
			t.Errorf("limit %d: %d records in %d bytes", limit, len(records), len(got.whole))
		}
		first := got.data["records"].([]any)[0].(map[string]any)
		cut := fmt.Sprint(first["cut"])
		if !strings.Contains(cut, "length:15000") {
			t.Errorf("the cut is %s", cut)
		}
	}
	var whole strings.Builder
	for whole.Len() < len(text) {
		got := call(t, s, "get_record", map[string]any{"stream": "notes", "id": "n3", "field": "text",
			"offset": len([]rune(whole.String())), "length": 12000})
		if len(got.whole) > 64<<10 {
			t.Errorf("a window has %d bytes", len(got.whole))
		}
		part, ok := got.data["part"].(map[string]any)
		if !ok || part["text"] == "" {
			t.Fatalf("there is no part: %.300s", got.whole)
		}
		whole.WriteString(part["text"].(string))
	}
	if whole.String() != text {
		t.Error("the windows do not make the text")
	}
}
