package runner

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/childprocess"
	"github.com/pdpp-go/pdpp/protocol"
)

// dialogue is a run without a process: script plays the connector.
type dialogue struct {
	memory
	spec  Spec
	opts  Options
	asker Asker
	dir   string // where the connector has its files
}

func newDialogue(t testing.TB, streams ...string) *dialogue {
	t.Helper()
	d := &dialogue{spec: Spec{RunID: "run-1", Manifest: sample(t), Mode: protocol.Incremental, Scope: scope(streams...)}}
	d.spec.Bindings = bindings("filesystem")
	return d
}

// play runs the session against the script, which returns the exit code.
func (d *dialogue) play(ctx context.Context, script func(*connector) int) Outcome {
	s := newSession(d.spec, d, d, d.asker, d.opts.withDefaults())
	if f := s.prepare(ctx); f != nil {
		return s.notStarted(f)
	}
	child := newScripted(script)
	child.dir = d.dir
	o := s.converse(ctx, child)
	<-child.returned
	return o
}

// say plays a connector that sends the lines, then DONE with the counted records unless the lines contain it, and
// exits with the matching code.
func (d *dialogue) say(t testing.TB, lines ...string) Outcome {
	t.Helper()
	return d.play(t.Context(), func(c *connector) int {
		c.start()
		for _, l := range lines {
			c.line(l)
		}
		return c.done(protocol.DoneSucceeded)
	})
}

// scripted is a child without a process.
type scripted struct {
	stdin      *io.PipeReader
	toStdin    *io.PipeWriter
	stdout     *io.PipeReader
	fromStdout *io.PipeWriter
	stderr     string
	dir        string

	once     sync.Once
	gone     chan struct{}
	exit     childprocess.ExitStatus
	returned chan struct{} // the script is over
}

func newScripted(script func(*connector) int) *scripted {
	p := &scripted{gone: make(chan struct{}), returned: make(chan struct{})}
	p.stdin, p.toStdin = io.Pipe()
	p.stdout, p.fromStdout = io.Pipe()
	c := &connector{p: p, lines: protocol.NewLineReader(p.stdin, 0), dec: protocol.NewDecoder(protocol.ToConnector)}
	go func() {
		defer close(p.returned)
		p.end(childprocess.ExitStatus{Code: script(c)})
	}()
	return p
}

func (p *scripted) end(e childprocess.ExitStatus) {
	p.once.Do(func() {
		p.exit = e
		_ = p.fromStdout.Close()
		_ = p.stdin.Close()
		close(p.gone)
	})
}

func (p *scripted) Write(b []byte) (int, error) { return p.toStdin.Write(b) }
func (p *scripted) CloseStdin()                 { _ = p.toStdin.Close() }
func (p *scripted) Stdout() io.Reader           { return p.stdout }
func (p *scripted) Dir() string                 { return p.dir }
func (p *scripted) Discard()                    {}
func (p *scripted) StderrTail() (string, bool)  { return p.stderr, false }
func (p *scripted) Terminate()                  { p.end(childprocess.ExitStatus{Code: -1, Signal: "terminated"}) }
func (p *scripted) Wait(grace time.Duration) (childprocess.ExitStatus, bool) {
	var limit <-chan time.Time
	if grace > 0 {
		timer := time.NewTimer(grace)
		defer timer.Stop()
		limit = timer.C
	}
	select {
	case <-p.gone:
		p.CloseStdin()
		return p.exit, true
	case <-limit:
		return childprocess.ExitStatus{}, false
	}
}

// connector is the script's side of the dialogue. Once the run has ended its
// words go nowhere and it hears nothing.
type connector struct {
	p       *scripted
	lines   *protocol.LineReader
	dec     *protocol.Decoder
	records int64
	ended   bool
}

func (c *connector) line(text string) {
	c.records += int64(strings.Count(text, `"RECORD"`))
	c.ended = c.ended || strings.Contains(text, `"DONE"`)
	_, _ = io.WriteString(c.p.fromStdout, text+"\n")
}

// send sends messages in one write, as a connector with a buffer does.
func (c *connector) send(ms ...protocol.Message) {
	var b []byte
	for _, m := range ms {
		if m.Type() == protocol.TypeRecord {
			c.records++
		}
		b, _ = protocol.AppendLine(b, m)
	}
	_, _ = c.p.fromStdout.Write(b)
}

// pause lets virtual time pass, or ends with the process.
func (c *connector) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-c.p.gone:
	}
}

// hear returns the next message, or nil once stdin is closed.
func (c *connector) hear() protocol.Message {
	line, err := c.lines.Next()
	if err != nil {
		return nil
	}
	m, err := c.dec.Decode(line)
	if err != nil {
		panic(err)
	}
	return m
}

func (c *connector) start() *protocol.Start {
	m, _ := c.hear().(*protocol.Start)
	return m
}

// done sends DONE with the right count, waits for stdin to close, and returns the exit code that matches the status.
func (c *connector) done(status protocol.DoneStatus) int {
	if !c.ended {
		c.send(&protocol.Done{Status: status, RecordsEmitted: c.records})
	}
	for c.hear() != nil {
	}
	if status == protocol.DoneSucceeded {
		return 0
	}
	return 1
}
