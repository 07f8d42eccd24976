package connectorkit

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// Exit codes of a connector process.
const (
	ExitSucceeded = 0
	ExitFailed    = 1 // DONE with failed or cancelled
	ExitProtocol  = 2 // the runner disappeared or violated the protocol; there is no DONE
)

// Process is the environment of a connector: its streams, variables and clock.
type Process struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Env    func(name string) string
	Now    func() time.Time
	// Transport sends the requests of clients that Setup.HTTP creates. Nil means the network. Tests use a
	// recorder or a replayer.
	Transport http.RoundTripper
	// Dir is the working directory of the run. Empty means that of the process.
	Dir string
}

// Main runs the connector as this process and exits.
func Main(c Connector) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	code := Run(ctx, c, Process{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Env: os.Getenv, Now: time.Now})
	stop()
	os.Exit(code)
}

// Run makes one run of the connector and returns its exit code. It returns within three seconds of DONE, of the
// runner's disappearance, or of ctx ending, even if stdout is blocked. A goroutine that reads Stdin may remain
// until Stdin ends.
func Run(ctx context.Context, c Connector, p Process) int {
	secrets := &logRedactor{w: p.Stderr}
	for _, name := range c.Manifest.SecretEnv() {
		secrets.hide(p.Env(name))
	}
	log := slog.New(slog.NewTextHandler(secrets, nil))

	live, end := context.WithCancelCause(ctx)
	defer end(nil)
	out := newLineOutput(p.Stdout, end)
	peer := newRunnerPeer(p.Stdin, end)
	var e runEnding // written before over is closed
	var last closerStack
	over := make(chan struct{})
	go func() {
		defer close(over)
		select {
		case start := <-peer.started:
			e = newRun(c, p, start, out, peer, log, secrets, &last).whole(live)
		case <-live.Done():
		}
	}()
	select {
	case <-over:
	case <-live.Done():
	}
	limit, cancel := context.WithTimeout(context.Background(), exitLimit)
	defer cancel()
	defer last.run(limit)
	switch {
	case live.Err() == nil:
		e.log(log)
	case ctx.Err() != nil:
		waitForEnd(limit, over)
		return sendDone(limit, out, cancelled, log)
	default:
		log.Error("run ended without DONE", "cause", context.Cause(live))
		waitForEnd(limit, over)
		_ = out.finish(limit, nil) // the reader may be gone
		return ExitProtocol
	}
	return sendDone(limit, out, e, log)
}

var cancelled = runEnding{
	status:       protocol.DoneCancelled,
	classVerdict: classVerdict{code: "cancelled", message: "the run was cancelled", retryable: true},
}

// sendDone sends DONE and returns the matching exit code.
func sendDone(limit context.Context, out *lineOutput, e runEnding, log *slog.Logger) int {
	if err := out.finish(limit, e.done); err != nil {
		log.Error("output was not read", "cause", err)
		return ExitFailed
	}
	if e.status != protocol.DoneSucceeded {
		return ExitFailed
	}
	return ExitSucceeded
}

// waitForEnd waits for a connector to notice that its run is over. It does not wait for one that ignores that.
func waitForEnd(limit context.Context, over <-chan struct{}) {
	select {
	case <-over:
	case <-limit.Done():
	}
}

// runEnding is the result of a run.
type runEnding struct {
	status protocol.DoneStatus
	classVerdict
	cause error
}

func (e runEnding) done(records int64) protocol.Message {
	d := &protocol.Done{Status: e.status, RecordsEmitted: records}
	if e.status != protocol.DoneSucceeded {
		d.Error = &protocol.DoneError{Code: e.code, Message: e.message, Retryable: &e.retryable}
		if e.hint != "" {
			d.Error.RecoveryHint = &protocol.RecoveryHint{Action: e.hint}
		}
	}
	return d
}

func (e runEnding) log(log *slog.Logger) {
	if e.status != protocol.DoneSucceeded {
		log.Error(e.message, "code", e.code, "cause", governhttp.WithoutURL(e.cause))
	}
}

// runFailure is a classified end of a stream or of the run.
type runFailure struct {
	stream string
	classVerdict
	cause error
	whole bool // it affects every stream, so the run ends
}

func (f *runFailure) Error() string {
	if f.cause == nil {
		return f.code
	}
	return f.code + ": " + f.cause.Error()
}

func (f *runFailure) Unwrap() error { return f.cause }

// failureOf classifies the error of a collector or of Open.
func (r *runState) failureOf(err error) *runFailure {
	var f *runFailure
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, ErrNotInteractive), errors.Is(err, ErrNotAnswered):
		return &runFailure{cause: err, classVerdict: classVerdict{
			code: "interaction_unanswered", message: "the connector needs an answer from the owner and got none",
			hint: protocol.ManualActionRequired,
		}}
	default:
		e := classify(err)
		return &runFailure{cause: err, classVerdict: r.verdictOf(e), whole: e.Class == Unauthorized || e.Class == Challenge}
	}
}
