package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pdpp-go/pdpp/internal/serve"
	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/web/auth"
)

// An assistant with a grant answers "what did I pay at Harbour in June": it finds the stream and its fields, sums up,
// and reports how complete that is.
func TestAssistantAnswersFromTheYear(t *testing.T) {
	t.Parallel()
	g := ground(t)
	if err := g.year(t.Context()); err != nil {
		t.Fatal(err)
	}
	shared := grants.NewService(g.Store, "", g.Now)
	_, token, err := shared.Create(t.Context(), grants.New{ClientName: "Assistant", Purpose: "money questions",
		Scope: grants.GrantedStreams{{ConnectionID: "cin_copper_1", Stream: "bookings"}}})
	if err != nil {
		t.Fatal(err)
	}
	ask := startAssistant(t, g, token)

	listed := ask("list_streams", nil)
	stream := listed.structure["streams"].([]any)[0].(map[string]any)
	if stream["name"] != "bookings" || !strings.Contains(listed.sentence, "Copper bank (bookings)") {
		t.Fatalf("the streams are %v: %s", listed.structure, listed.sentence)
	}
	described := fmt.Sprint(ask("describe_stream", map[string]any{"stream": "bookings"}).structure)
	for _, field := range []string{"payee", "amount", "booked_at"} {
		if !strings.Contains(described, field) {
			t.Fatalf("the description has no %s: %s", field, described)
		}
	}
	june := []map[string]any{{"field": "payee", "value": "Harbour"},
		{"field": "booked_at", "op": "gte", "value": "2025-06-01T00:00:00Z"},
		{"field": "booked_at", "op": "lt", "value": "2025-07-01T00:00:00Z"}}
	summed := ask("aggregate", map[string]any{"stream": "bookings", "metric": "sum", "field": "amount",
		"filters": june})
	total := summed.structure["totals"].([]any)[0].(map[string]any)["groups"].([]any)[0].(map[string]any)["value"]
	counted := ask("read_records", map[string]any{"stream": "bookings", "filters": june})

	var want float64
	n := 0
	for date := time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC); date.Month() == time.June; date = date.AddDate(0, 0, 1) {
		for _, x := range dayOf("copper", date) {
			if x.Data["payee"] == "Harbour" {
				want += x.Data["amount"].(float64)
				n++
			}
		}
	}
	if got := total.(float64); math.Abs(got-want) > 0.001 || n == 0 {
		t.Errorf("the sum is %v, want %v of %d bookings", got, want, n)
	}
	if got := len(counted.structure["records"].([]any)); got != n {
		t.Errorf("there are %d bookings, want %d", got, n)
	}
	const whole = "Copper bank (bookings) is complete"
	if !strings.Contains(summed.sentence, whole) {
		t.Errorf("the sentence is %q, want %q in it", summed.sentence, whole)
	}
	none := ask("search", map[string]any{"words": "Walrus"})
	if !strings.HasPrefix(none.sentence, "Nothing in what is held. "+whole) {
		t.Errorf("what is not there is answered with %q", none.sentence)
	}
}

// toolAnswer is what an assistant receives.
type toolAnswer struct {
	sentence  string
	structure map[string]any
}

// startAssistant starts the command's answers on a pair of pipes and returns a client of them.
func startAssistant(t *testing.T, g Ground, token string) func(tool string, arguments map[string]any) toolAnswer {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- serve.AnswerAssistant(t.Context(), serve.Assistant{In: toServer, Out: fromServer, Token: token,
			Store: g.Store, Auth: auth.New(auth.Config{Store: g.Store, Now: g.Now}), HTTP: http.DefaultTransport,
			Audit: audit.New(audit.Config{Store: g.Store, Now: g.Now}), Now: g.Now})
	}()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "scripted", Version: "1"}, nil).Connect(t.Context(),
		&sdk.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close()
		if err := <-ended; err != nil {
			t.Errorf("it ended with %v", err)
		}
	})
	return func(tool string, arguments map[string]any) toolAnswer {
		t.Helper()
		answer, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
		if err != nil || answer.IsError {
			body, _ := json.Marshal(answer)
			t.Fatalf("%s: %v %s", tool, err, body)
		}
		return toolAnswer{answer.Content[0].(*sdk.TextContent).Text, answer.StructuredContent.(map[string]any)}
	}
}
