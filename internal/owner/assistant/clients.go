package assistant

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// ClientProgram is a program that can ask over the Model Context Protocol.
type ClientProgram struct {
	ID   string `json:"client"`
	Name string `json:"name"`
	// Place is where its settings go.
	Place string `json:"place"`
	// Remote means that it reaches only servers, over HTTPS.
	Remote bool `json:"remote_only"`
	// key is the member of its settings that lists servers; empty for clients that take a command or an address.
	key string
	// typed means that each server in the settings names its transport.
	typed bool
}

// Clients are the programs whose settings are known. The last one represents any other.
var Clients = []ClientProgram{
	{ID: "claude-desktop", Name: "Claude Desktop", key: "mcpServers",
		Place: "Settings, Developer, Edit Config: claude_desktop_config.json"},
	{ID: "claude-code", Name: "Claude Code", key: "mcpServers", typed: true,
		Place: ".mcp.json in the folder of a project, or the command below"},
	{ID: "chatgpt", Name: "ChatGPT", Remote: true, Place: "Settings, Apps and connectors, Create: MCP server URL"},
	{ID: "cursor", Name: "Cursor", key: "mcpServers", Place: "~/.cursor/mcp.json"},
	{ID: "vscode", Name: "VS Code", key: "servers", typed: true,
		Place: ".vscode/mcp.json, or MCP: Open User Configuration"},
	{ID: "generic", Name: "Another assistant", key: "mcpServers", typed: true, Place: "its settings for MCP servers"},
}

// FindClient returns the client with an id.
func FindClient(id string) (ClientProgram, bool) {
	i := slices.IndexFunc(Clients, func(c ClientProgram) bool { return c.ID == strings.ToLower(id) })
	if i < 0 {
		return ClientProgram{}, false
	}
	return Clients[i], true
}

// Installation is what settings refer to.
type Installation struct {
	Program string // path of pdpp
	Home    string // its data folder
	// Server is the address of a server to ask; empty for the data of this machine.
	Server string
	// Public is the address of this server for programs elsewhere; empty if it has none.
	Public string
}

// ClientSettings are what an owner copies into a client.
type ClientSettings struct {
	ClientProgram
	// Local runs pdpp on the same machine; empty for a client that cannot.
	Local string `json:"local,omitempty"`
	// Command adds it from a terminal; empty for clients without such a command.
	Command string `json:"command,omitempty"`
	// HTTP reaches a server at its address; the client signs in by OAuth. Empty without an address.
	HTTP string `json:"http,omitempty"`
	// Address is the address of the server for assistants.
	Address string `json:"address,omitempty"`
}

// TokenPlace is where the token of a grant goes in the settings.
const TokenPlace = "TOKEN-OF-A-GRANT"

// Settings returns what to copy. It never contains a token.
func (c ClientProgram) Settings(i Installation) ClientSettings {
	out := ClientSettings{ClientProgram: c}
	if i.Public != "" {
		out.Address = strings.TrimRight(i.Public, "/") + "/mcp"
	}
	if c.Remote {
		return out
	}
	environment := map[string]string{"PDPP_TOKEN": TokenPlace}
	arguments := []string{"mcp"}
	if i.Server != "" {
		environment["PDPP_SERVER"] = i.Server
	} else {
		arguments = []string{"--home", i.Home, "--server", "local", "mcp"}
	}
	local := map[string]any{"command": i.Program, "args": arguments, "env": environment}
	if c.typed {
		local["type"] = "stdio"
	}
	out.Local = c.document(local)
	if out.Address != "" && c.ID != "claude-desktop" {
		remote := map[string]any{"url": out.Address}
		if c.typed {
			remote["type"] = "http"
		}
		out.HTTP = c.document(remote)
	}
	if c.ID == "claude-code" {
		words := []string{"claude", "mcp", "add", "pdpp"}
		for _, name := range []string{"PDPP_SERVER", "PDPP_TOKEN"} {
			if environment[name] != "" {
				words = append(words, "--env", name+"="+environment[name])
			}
		}
		words = append(append(words, "--", i.Program), arguments...)
		for n, w := range words {
			words[n] = quoted(w)
		}
		out.Command = strings.Join(words, " ")
	}
	return out
}

// document returns settings with one server.
func (c ClientProgram) document(server map[string]any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if e.Encode(map[string]any{c.key: map[string]any{"pdpp": server}}) != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// quoted quotes a word for a shell where that is needed.
func quoted(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./=:@", r)
	}
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
