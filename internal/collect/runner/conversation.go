package runner

import (
	"cmp"
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/childprocess"
	"github.com/pdpp-go/pdpp/protocol"
)

// childProcess is the connector's process; *childprocess.Process implements it.
type childProcess interface {
	io.Writer // stdin
	CloseStdin()
	Stdout() io.Reader
	// Terminate ends the process group, first with SIGTERM and then with SIGKILL. It does not block.
	Terminate()
	// Wait returns the exit status once the process is gone; ok is false when it outlives the grace period.
	Wait(grace time.Duration) (exit childprocess.ExitStatus, ok bool)
	// StderrTail returns the end of stderr, and whether earlier output was dropped.
	StderrTail() (text string, truncated bool)
	// Dir returns the working directory, which exists until Discard.
	Dir() string
	// Discard removes the working directory if the process created it.
	Discard()
}

// conversation is the exchange of messages with the child: its output, the lines to its input, and the failure that
// ends it.
type conversation struct {
	secrets *secrets
	opts    Options
	child   childProcess
	began   time.Time

	output  *outputReader
	lines   *protocol.LineReader
	decoder *protocol.Decoder

	over        context.Context // ends when the child has exited
	background  sync.WaitGroup  // goroutines that may outlast a message
	outgoing    chan outgoingLine
	delivered   chan struct{} // closed when every outgoing line was written or failed
	stdinPhase  string        // phase of the first line that could not be written; read it after delivered
	lingerTimer *time.Timer   // terminates a connector that does not exit after DONE

	lastActive      atomic.Int64 // in Unix nanoseconds
	waitingForOwner atomic.Bool

	mu      sync.Mutex
	failure *Failure // the first one
}

// outgoingLine is a line for the connector. Its phase names what the connector misses when its stdin is closed.
type outgoingLine struct {
	phase string
	line  []byte
}

func newConversation(s *secrets, opts Options) conversation {
	return conversation{secrets: s, opts: opts, decoder: protocol.NewDecoder(protocol.FromConnector),
		outgoing: make(chan outgoingLine, 1), delivered: make(chan struct{})}
}

// begin starts to write to the child. The returned function ends the conversation's context.
func (c *conversation) begin(ctx context.Context, child childProcess) (end context.CancelFunc) {
	c.child, c.began = child, time.Now()
	c.output = &outputReader{Reader: child.Stdout()}
	c.lines = protocol.NewLineReader(c.output, c.opts.MaxLine)
	c.touch()
	c.over, end = context.WithCancel(ctx)
	go c.deliver()
	return end
}

// send queues one message for the connector.
func (c *conversation) send(phase string, m protocol.Message) {
	line, err := protocol.AppendLine(nil, m)
	if err != nil {
		c.abort(c.secrets.asFailure(err))
		return
	}
	c.outgoing <- outgoingLine{phase, line}
}

// deliver writes the outgoing lines in order, concurrently with the reader: a connector may write more output
// before it reads. The queue holds one line, so memory stays bounded for a connector that never reads.
func (c *conversation) deliver() {
	defer close(c.delivered)
	for l := range c.outgoing {
		if _, err := c.child.Write(l.line); err != nil {
			// Not yet a failure: the connector's exit shows what it means.
			c.stdinPhase = cmp.Or(c.stdinPhase, l.phase)
		}
	}
}

// finishSending waits until the outgoing lines are written. Call it when no goroutine sends any more.
func (c *conversation) finishSending() {
	close(c.outgoing)
	<-c.delivered
}

// abort records the first failure and terminates the child. Later failures are consequences of the first.
func (c *conversation) abort(f *Failure) {
	c.mu.Lock()
	first := c.failure == nil
	if first {
		c.failure = f
	}
	c.mu.Unlock()
	if first {
		c.child.Terminate()
	}
}

func (c *conversation) firstFailure() *Failure {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failure
}

// touch resets the time without progress.
func (c *conversation) touch() { c.lastActive.Store(time.Now().UnixNano()) }

// watch aborts the run when it is cancelled or made no progress for too long. It returns when the conversation is
// over.
func (c *conversation) watch(ctx context.Context) {
	var silence <-chan time.Time
	var timer *time.Timer
	if c.opts.NoProgress > 0 {
		timer = time.NewTimer(c.opts.NoProgress)
		defer timer.Stop()
		silence = timer.C
	}
	for {
		select {
		case <-c.over.Done():
			return
		case <-ctx.Done():
			c.abort(c.secrets.cancellation(ctx))
			return
		case <-silence:
			rest := c.opts.NoProgress - time.Since(time.Unix(0, c.lastActive.Load()))
			if c.waitingForOwner.Load() {
				rest = c.opts.NoProgress // the connector must be silent while the owner is asked
			}
			if rest <= 0 {
				c.abort(&Failure{Reason: ReasonTimedOut, Origin: OriginRuntime,
					Message: "the connector made no progress for " + c.opts.NoProgress.String()})
				return
			}
			timer.Reset(rest)
		}
	}
}

// acknowledgeDone closes the child's stdin: DONE was read and the records are durable. A child that does not exit
// within the grace period is terminated.
func (c *conversation) acknowledgeDone() {
	c.child.CloseStdin()
	c.lingerTimer = time.AfterFunc(c.opts.ExitGrace, c.child.Terminate)
}

// awaitExit waits for the child to exit, and terminates it after the grace period.
func (c *conversation) awaitExit() childprocess.ExitStatus {
	defer func() {
		if c.lingerTimer != nil {
			c.lingerTimer.Stop()
		}
	}()
	if c.firstFailure() == nil {
		if exit, ok := c.child.Wait(c.opts.ExitGrace); ok {
			return exit
		}
		c.child.Terminate()
	}
	exit, _ := c.child.Wait(0)
	return exit
}

// lineTruncated reports whether a malformed line is the unfinished last line of the output.
func (c *conversation) lineTruncated(err error) bool {
	v, ok := protocol.AsViolation(err)
	return ok && v.Subtype == protocol.MalformedJSON && c.output.truncated() && c.lines.Buffered() == 0
}

// stderrTail returns the end of the connector's stderr without secrets.
func (c *conversation) stderrTail() string { return c.secrets.redactTail(c.child.StderrTail()) }

// outputReader remembers how the connector's output ended.
type outputReader struct {
	io.Reader
	last byte
	over bool
}

func (e *outputReader) Read(b []byte) (int, error) {
	n, err := e.Reader.Read(b)
	if n > 0 {
		e.last = b[n-1]
	}
	e.over = e.over || errors.Is(err, io.EOF)
	return n, err
}

// truncated reports whether the output is over and its last line has no line feed.
func (e *outputReader) truncated() bool { return e.over && e.last != '\n' }
