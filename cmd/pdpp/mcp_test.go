package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
)

// The process answers the official client on its standard input and output with each kind of protocol revision.
func TestAssistantProcess(t *testing.T) {
	home := t.TempDir()
	st, err := sqlite.Open(t.Context(), filepath.Join(home, "pdpp.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		c := exec.Command("pdpp", "mcp", "--operate")
		c.Env = append(os.Environ(), "PDPP_HOME="+home)
		session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
			&sdk.CommandTransport{Command: c}, &sdk.ClientSessionOptions{ProtocolVersion: revision})
		if err != nil {
			t.Fatalf("%s: %v", revision, err)
		}
		listed, err := session.ListTools(t.Context(), nil)
		if err != nil || len(listed.Tools) != 11 {
			t.Errorf("%s: %d tools, %v", revision, len(listed.Tools), err)
		}
		answer, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "search",
			Arguments: map[string]any{"words": "walrus"}})
		if err != nil || !strings.HasPrefix(answer.Content[0].(*sdk.TextContent).Text, "Nothing in what is held") {
			t.Errorf("%s: %+v, %v", revision, answer, err)
		}
		if err := session.Close(); err != nil {
			t.Errorf("%s: it ended with %v", revision, err)
		}
	}
}
