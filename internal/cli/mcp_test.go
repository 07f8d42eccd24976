package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pdpp-go/pdpp/internal/owner/assistant"
	"github.com/pdpp-go/pdpp/internal/quality/goldentest"
)

// asBearer sends a token with every request.
type asBearer string

func (b asBearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// A running server answers the official client at /mcp with both kinds of protocol revision.
// A caller without a valid token learns where to ask for one.
func TestServerAnswersAssistants(t *testing.T) {
	onBoth(t, func(t *testing.T, vars map[string]string) {
		s := serveLocal(t, vars)
		token := s.token()
		for _, revision := range []string{"2025-11-25", "2026-07-28"} {
			session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
				&sdk.StreamableClientTransport{Endpoint: s.url + "/mcp", MaxRetries: -1, DisableStandaloneSSE: true,
					HTTPClient: &http.Client{Transport: asBearer(token)}},
				&sdk.ClientSessionOptions{ProtocolVersion: revision})
			if err != nil || session.InitializeResult().ProtocolVersion != revision {
				t.Fatalf("connect with %s: %v", revision, err)
			}
			defer session.Close()
			answer, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "list_streams"})
			if err != nil || answer.IsError || !strings.HasPrefix(answer.Content[0].(*sdk.TextContent).Text, "0 streams") {
				t.Errorf("%s: %v %+v", revision, err, answer)
			}
		}
		for sent, want := range map[string]string{
			"":               `Bearer resource_metadata="%s/.well-known/oauth-protected-resource/mcp"`,
			"pdpp_gt_wrong":  `Bearer resource_metadata="%s/.well-known/oauth-protected-resource/mcp", error="invalid_token"`,
			"something else": `Bearer resource_metadata="%s/.well-known/oauth-protected-resource/mcp", error="invalid_token"`,
		} {
			v := s.visitor()
			if sent != "" {
				v = s.bearer(sent)
			}
			a := v.send("POST", "/mcp", "application/json", `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
			if got := a.Header.Get("WWW-Authenticate"); a.StatusCode != http.StatusUnauthorized ||
				got != fmt.Sprintf(want, s.url) {
				t.Errorf("%q: %d %s", sent, a.StatusCode, got)
			}
		}
	})
}

// pdpp mcp answers on standard input and output, and prints nothing else there.
func TestAssistantCommand(t *testing.T) {
	s := serveLocal(t, map[string]string{"PDPP_OWNER_PASSWORD": servedPassword})
	for name, vars := range map[string]map[string]string{
		"this machine": s.vars,
		"a server":     {"PDPP_HOME": t.TempDir(), "PDPP_SERVER": s.url, "PDPP_TOKEN": s.token()},
	} {
		t.Run(name, func(t *testing.T) {
			env, _, log := testEnvironment(t, vars, "mcp")
			toServer, fromClient := io.Pipe()
			toClient, fromServer := io.Pipe()
			env.Stdin, env.Stdout = toServer, fromServer
			ended := make(chan int, 1)
			go func() { ended <- Main(env) }()
			session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
				&sdk.IOTransport{Reader: toClient, Writer: fromClient}, nil)
			if err != nil {
				t.Fatalf("connect: %v\n%s", err, log)
			}
			answer, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "completeness"})
			if err != nil || answer.IsError {
				body, _ := json.Marshal(answer)
				t.Errorf("completeness: %v %s", err, body)
			}
			_ = session.Close()
			if code := <-ended; code != 0 || log.Len() > 0 {
				t.Errorf("it ended with %d: %s", code, log)
			}
		})
	}
	env, _, log := testEnvironment(t, map[string]string{"PDPP_HOME": s.vars["PDPP_HOME"], "PDPP_SERVER": s.url,
		"PDPP_TOKEN": "pdpp_gt_" + strings.Repeat("A", 52)}, "mcp", "--operate")
	if code := Main(env); code != 2 || !strings.Contains(log.String(), "only the owner can let assistants operate") {
		t.Errorf("a grant operates: %d %s", code, log)
	}
}

// The settings that are printed are as they were for every assistant, and those in JSON are JSON.
func TestAssistantSettings(t *testing.T) {
	var all bytes.Buffer
	for _, base := range []string{"", "https://pdpp.lantern.example"} {
		for _, c := range assistant.Clients {
			env, out, log := testEnvironment(t, map[string]string{"PDPP_HOME": "/home/ada/.pdpp", "PDPP_BASE_URL": base},
				"mcp", "setup", c.ID)
			env.Executable = "/opt/PDPP files/pdpp"
			if code := Main(env); code != 0 {
				t.Fatalf("%s: %d %s", c.ID, code, log)
			}
			fmt.Fprintf(&all, "$ PDPP_BASE_URL=%s pdpp mcp setup %s\n%s\n", base, c.ID, out)
		}
	}
	goldentest.Hold(t, "mcpsetup.txt", all.String())
	vars := map[string]string{"PDPP_HOME": "/home/ada/.pdpp"}
	env, out, _ := testEnvironment(t, vars, "mcp", "setup", "cursor", "--json")
	var settings assistant.ClientSettings
	var document struct {
		Servers map[string]struct{ Args []string } `json:"mcpServers"`
	}
	if Main(env) != 0 || json.Unmarshal(out.Bytes(), &settings) != nil ||
		json.Unmarshal([]byte(settings.Local), &document) != nil || len(document.Servers["pdpp"].Args) == 0 {
		t.Errorf("the settings are %s", out)
	}
}
