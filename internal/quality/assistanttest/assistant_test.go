//pdpp:tier programs

package assistanttest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// TestAssistants lets assistants ask the demonstration: the official client on standard input and output and over
// HTTP, clients that others wrote, and the official suite.
func TestAssistants(t *testing.T) {
	t.Parallel()
	d := startDemonstration(t)
	june := d.june(t)
	t.Run("stdio", func(t *testing.T) {
		c := d.own("mcp")
		c.Env = append(c.Env, "PDPP_TOKEN="+d.grant(t))
		june.answered(t, connect(t, &sdk.CommandTransport{Command: c}))
	})
	t.Run("http", func(t *testing.T) {
		june.answered(t, connect(t, &sdk.StreamableClientTransport{Endpoint: d.URL + "/mcp", MaxRetries: -1,
			DisableStandaloneSSE: true, OAuthHandler: d.signIn(t)}))
	})
	t.Run("typescript", func(t *testing.T) { d.typescript(t, june) })
	t.Run("conformance", d.conformance)
	t.Run("authorization", d.authorization)
	t.Run("settings", d.settings)
}

func connect(t *testing.T, transport sdk.Transport) *sdk.ClientSession {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "scripted", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), transport, nil)
	check(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// signIn returns the official client's own way to a token: it finds the server of the challenge, registers, sends the
// owner's browser there and exchanges the code.
func (d *demonstration) signIn(t *testing.T) auth.OAuthHandler {
	t.Helper()
	app := &oauthex.ClientRegistrationMetadata{ClientName: "Scripted assistant", RedirectURIs: []string{back}}
	h, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: app}, RedirectURL: back,
		AuthorizationCodeFetcher: func(_ context.Context, a *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			q := d.approve(t, a.URL)
			return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
		}})
	check(t, err)
	return h
}

// spending is the sum of a month at one payee, computed without the tools.
type spending struct {
	From, Until time.Time
	Payments    int
	Sum         float64
}

// june adds up the newest whole June of the demonstration's bank from an export of all of its records.
func (d *demonstration) june(t *testing.T) (s spending) {
	t.Helper()
	now := time.Now().UTC()
	s.From = time.Date(now.Year(), time.June, 1, 0, 0, 0, 0, time.UTC)
	if now.Month() <= time.June {
		s.From = s.From.AddDate(-1, 0, 0)
	}
	s.Until = s.From.AddDate(0, 1, 0)
	lines := bytes.Split(bytes.TrimSpace(d.answer(t, "export", "bookings", "--connection", "cin_copper_1",
		"--format", "jsonl")), []byte("\n"))
	for _, line := range lines {
		var r struct {
			Data struct {
				Payee    string
				Amount   float64
				BookedAt time.Time `json:"booked_at"`
			}
		}
		check(t, json.Unmarshal(line, &r))
		if b := r.Data; b.Payee == "Harbour" && !b.BookedAt.Before(s.From) && b.BookedAt.Before(s.Until) {
			s.Payments++
			s.Sum += b.Amount
		}
	}
	if s.Payments == 0 {
		t.Fatalf("there was nothing paid at Harbour in June, in %d records", len(lines))
	}
	return s
}

// answered lets an assistant answer "what did I pay at Harbour in June" by tools only, and compares figures and
// sentences with those of the records.
func (s spending) answered(t *testing.T, session *sdk.ClientSession) {
	t.Helper()
	ask := func(tool string, arguments any) (sentence string, structure map[string]any) {
		t.Helper()
		a, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
		if err != nil || a.IsError {
			body, _ := json.Marshal(a)
			t.Fatalf("%s: %v %s", tool, err, body)
		}
		return a.Content[0].(*sdk.TextContent).Text, a.StructuredContent.(map[string]any)
	}
	sentence, listed := ask("list_streams", nil)
	streams, _ := listed["streams"].([]any)
	if len(streams) != 1 || !strings.HasPrefix(sentence, "1 stream may be read. Copper bank (bookings)") {
		t.Fatalf("the streams are %v: %s", listed, sentence)
	}
	stream := streams[0].(map[string]any)["name"]
	_, described := ask("describe_stream", map[string]any{"stream": stream})
	for _, field := range []string{"payee", "amount", "booked_at"} {
		if !strings.Contains(fmt.Sprint(described), field) {
			t.Fatalf("the description has no %s: %v", field, described)
		}
	}
	filters := []map[string]any{{"field": "payee", "value": "Harbour"},
		{"field": "booked_at", "op": "gte", "value": s.From.Format(time.RFC3339)},
		{"field": "booked_at", "op": "lt", "value": s.Until.Format(time.RFC3339)}}
	value := func(metric, field string) (sentence string, value float64) {
		t.Helper()
		sentence, summed := ask("aggregate", map[string]any{"stream": stream, "metric": metric, "field": field,
			"filters": filters})
		value, _ = summed["totals"].([]any)[0].(map[string]any)["groups"].([]any)[0].(map[string]any)["value"].(float64)
		return sentence, value
	}
	const whole = "Copper bank (bookings) is complete"
	sentence, sum := value("sum", "amount")
	if math.Abs(sum-s.Sum) > 0.001 || !strings.Contains(sentence, whole) {
		t.Errorf("the sum is %v, want %v: %s", sum, s.Sum, sentence)
	}
	if _, payments := value("count", ""); int(payments) != s.Payments {
		t.Errorf("there are %v payments, want %d", payments, s.Payments)
	}
	if sentence, _ := ask("search", map[string]any{"words": "Walrus"}); !strings.HasPrefix(sentence,
		"Nothing in what is held. "+whole) {
		t.Errorf("what is not there is answered with %q", sentence)
	}
	t.Attr("result", fmt.Sprintf("%d payments, %.2f: %s", s.Payments, s.Sum, sentence))
}
