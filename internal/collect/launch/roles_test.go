package launch

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/goleak"

	"github.com/pdpp-go/pdpp/protocol"
)

// The test binary plays the connector: a role in this variable replaces the tests. A role exits with syscall.Exit,
// because os.Exit waits a second under the race detector: its setting is in /proc, which a confined process cannot
// read.
const roleVariable = "LAUNCH_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := roles[os.Getenv(roleVariable)]; role != nil {
		c := &connector{lines: protocol.NewLineReader(os.Stdin, 0), dec: protocol.NewDecoder(protocol.ToConnector)}
		c.start, _ = c.hear().(*protocol.Start)
		role(c)
		syscall.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

type connector struct {
	start   *protocol.Start
	lines   *protocol.LineReader
	dec     *protocol.Decoder
	records int64
}

func (c *connector) hear() protocol.Message {
	line, err := c.lines.Next()
	if err != nil {
		return nil
	}
	m, err := c.dec.Decode(line)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		syscall.Exit(17)
	}
	return m
}

func (c *connector) say(ms ...protocol.Message) {
	out := bufio.NewWriter(os.Stdout)
	for _, m := range ms {
		if m.Type() == protocol.TypeRecord {
			c.records++
		}
		line, err := protocol.AppendLine(nil, m)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			syscall.Exit(18)
		}
		_, _ = out.Write(line)
	}
	_ = out.Flush()
}

func (c *connector) done() {
	c.say(&protocol.Done{Status: protocol.DoneSucceeded, RecordsEmitted: c.records})
	for c.hear() != nil {
	}
	syscall.Exit(0)
}

// await blocks until the test releases the FIFO.
func await() {
	f, err := os.Open(os.Getenv("AWAIT"))
	if err == nil {
		_, err = f.Read(make([]byte, 1))
	}
	if err != nil {
		syscall.Exit(19)
	}
}

func note(key, title string) *protocol.Record {
	data, _ := jsontext.AppendQuote([]byte(`{"id":"`+key+`","title":`), title)
	return &protocol.Record{Stream: "notes", Key: key, Data: append(data, '}'), EmittedAt: "2026-01-02T03:04:05Z"}
}

func cursor(n int, mode protocol.CursorMode) *protocol.State {
	return &protocol.State{Stream: "notes", Mode: mode, Cursor: fmt.Appendf(nil, `{"n":%d}`, n),
		Accounted: &protocol.KeyCoverage{}}
}

// ask asks a question with a time limit and prints the answer.
func (c *connector) ask(seconds float64) {
	c.say(&protocol.Interaction{RequestID: "q1", Kind: protocol.AskCredentials, Message: "sign in",
		TimeoutSeconds: &seconds})
	r, _ := c.hear().(*protocol.InteractionResponse)
	if r == nil {
		syscall.Exit(1)
	}
	fmt.Fprintf(os.Stderr, "got %s\n", r.Data)
	c.say(&protocol.Progress{Message: "signed in with " + string(r.Data)}, note("1", string(r.Status)),
		cursor(1, protocol.SteadyState))
	c.done()
}

// browse starts the browser of the binding, as any connector could, and returns the content of a page.
func browse(b protocol.BrowserBinding, address string) (string, error) {
	cmd := exec.Command(b.Program, "--headless=new", "--user-data-dir="+b.Profile, "--disable-extensions",
		"--disable-background-networking", "--dump-dom", address)
	cmd.Env, cmd.Dir = []string{"HOME=" + b.Home, "PATH=/usr/bin:/bin", "TMPDIR=" + b.Home}, b.Home
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	text, err := cmd.Output()
	return string(text), err
}

var roles = map[string]func(*connector){
	"browses": func(c *connector) {
		b, err := protocol.ParseBrowserBinding(c.start.Bindings["browser"])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			syscall.Exit(20)
		}
		before, _ := os.ReadFile(filepath.Join(b.Home, "account"))
		page, err := browse(b, "data:text/html,<p>in a sandbox</p>")
		if err != nil {
			fmt.Fprintln(os.Stderr, err, page)
			syscall.Exit(21)
		}
		shown := "nobody looks on"
		if b.SurfaceFD != 0 {
			surface := os.NewFile(uintptr(b.SurfaceFD), "surface")
			heard := make([]byte, 16)
			n, _ := surface.Read(heard)
			shown = string(heard[:n])
			_, _ = surface.WriteString("seen")
		}
		_ = os.WriteFile(filepath.Join(b.Home, "account"), fmt.Appendf(nil, "%s+", before), 0o600)
		_, secret := os.ReadFile(os.Getenv("SAMPLE_REGION"))
		c.say(note("page", page), note("account", string(before)+"/"+b.Account), note("shown", shown),
			note("uid", strconv.Itoa(os.Getuid())),
			note("restored", strconv.FormatBool(b.Restored)), note("spied", strconv.FormatBool(secret == nil)),
			note("home", b.Home), cursor(1, protocol.SteadyState))
		c.done()
	},
	"hangs with a browser": func(c *connector) {
		b, _ := protocol.ParseBrowserBinding(c.start.Bindings["browser"])
		_ = os.WriteFile(filepath.Join(b.Home, "account"), []byte("late"), 0o600)
		c.say(note("home", b.Home), cursor(1, protocol.SteadyState))
		_, _ = browse(b, "data:text/html,<script>for(;;);</script>")
	},
	"collects": func(c *connector) {
		c.say(note("1", "one"), note("2", "two"), cursor(1, protocol.SteadyState), cursor(2, protocol.CatchUp))
		c.say(&protocol.Progress{Message: "nearly there"})
		c.done()
	},
	"paces": func(c *connector) { // with a pace on both bookmarks
		for _, mode := range []protocol.CursorMode{protocol.SteadyState, protocol.CatchUp} {
			c.say(&protocol.State{Stream: "notes", Mode: mode, Accounted: &protocol.KeyCoverage{},
				Cursor: jsontext.Value(`{"n":1,"pacing_interval_ms":400,"pacing_kind":"x"}`)})
		}
		c.done()
	},
	"echoes": func(c *connector) { // its input, as a record
		start, _ := protocol.AppendLine(nil, c.start)
		c.say(note("start", string(bytes.TrimSpace(start))), note("env", strings.Join(os.Environ(), "\n")))
		c.done()
	},
	"deletes": func(c *connector) {
		c.say(note("1", "one"), note("2", "two"), cursor(1, protocol.SteadyState))
		c.say(&protocol.Record{Stream: "notes", Key: "1", Op: protocol.OpDelete}, cursor(2, protocol.SteadyState))
		c.done()
	},
	"waits between slices": func(c *connector) {
		c.say(note("before", "x"), cursor(1, protocol.SteadyState), &protocol.Progress{Message: "ready"})
		await()
		c.say(note("after", "x"), cursor(2, protocol.SteadyState))
		c.done()
	},
	"is told to wait": func(c *connector) { // by its provider, and is still there
		c.say(note("before", "x"), cursor(1, protocol.SteadyState))
		c.say(&protocol.Progress{Message: "waiting for an hour",
			ProviderWait: &protocol.ProviderWait{Sender: "api", WaitMS: 3_600_000, Reason: protocol.WaitRetryAfter}})
		_, _ = io.Copy(io.Discard, os.Stdin)
		syscall.Exit(1)
	},
	"waits for ever": func(c *connector) {
		c.say(note("before", "x"), cursor(1, protocol.SteadyState), &protocol.Progress{Message: "ready"})
		_, _ = io.Copy(io.Discard, os.Stdin)
		syscall.Exit(1)
	},
	"asks":         func(c *connector) { c.ask(3600) },
	"asks briefly": func(c *connector) { c.ask(0.05) },
	"defers": func(c *connector) {
		for _, gap := range c.start.DetailGaps {
			c.say(&protocol.DetailGapAttempted{GapID: gap.GapID, LeaseID: gap.LeaseID, Stream: gap.Stream},
				&protocol.Record{Stream: "details", Key: string(gap.RecordKey),
					Data: jsontext.Value(`{"id":"` + string(gap.RecordKey) + `"}`), EmittedAt: "2026-01-02"},
				&protocol.DetailGapRecovered{GapID: gap.GapID, LeaseID: gap.LeaseID, Stream: gap.Stream})
		}
		if len(c.start.DetailGaps) == 0 {
			for _, key := range []string{"a", "b"} {
				c.say(&protocol.DetailGap{Stream: "details", ParentStream: "notes", RecordKey: protocol.WireKey(key),
					Reason:    protocol.ReasonRateLimited,
					Retryable: true, DetailLocator: jsontext.Value(`{"path":"/` + key + `"}`)})
			}
			c.say(&protocol.State{Stream: "notes", Cursor: jsontext.Value(`{"n":1}`),
				Accounted: &protocol.KeyCoverage{RequiredKeys: protocol.KeyList{"a", "b"}, GapKeys: protocol.KeyList{"a", "b"}}})
		}
		c.done()
	},
	"fails": func(c *connector) {
		c.say(note("1", "kept"), cursor(1, protocol.SteadyState), note("2", "dropped"))
		fmt.Fprintln(os.Stderr, "token is "+os.Getenv("SAMPLE_TOKEN")+" and "+os.Getenv("SAMPLE_CLIENT_SECRET"))
		c.say(&protocol.Done{Status: protocol.DoneFailed, RecordsEmitted: c.records,
			Error: &protocol.DoneError{Code: "provider_down", Message: "refused " + os.Getenv("SAMPLE_TOKEN")}})
		syscall.Exit(1)
	},
}
