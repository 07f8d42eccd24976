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

	"pdpp/governor/governhttp"
	"pdpp/protocol"
)

// Exit codes of a connector process.
const (
	ExitSucceeded = 0
	ExitFailed    = 1 // DONE said failed or cancelled
	ExitProtocol  = 2 // the runner went away or broke the protocol; there is no DONE
)

// Process is the outside of a connector: its streams, environment and clock.
type Process struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Env    func(name string) string
	Now    func() time.Time
	// Transport carries the requests of the clients that Setup.HTTP makes; nil means
	// the network. A recorder or a replayer takes its place.
	Transport http.RoundTripper
	// Dir is the working directory of the run; empty means that of the process.
	Dir string
}

// Main runs the connector as this process and exits.
func Main(c Connector) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	code := Run(ctx, c, Process{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Env: os.Getenv, Now: time.Now})
	stop()
	os.Exit(code)
}

// Run is one run of the connector and returns its exit code. It returns within
// three seconds of DONE, of the runner's disappearance, or of ctx ending, even
// when stdout is blocked. A reader of Stdin may stay behind until it ends.
func Run(ctx context.Context, c Connector, p Process) int {
	secrets := &redactor{w: p.Stderr}
	for _, name := range c.Manifest.SecretEnv() {
		secrets.hide(p.Env(name))
	}
	log := slog.New(slog.NewTextHandler(secrets, nil))

	live, end := context.WithCancelCause(ctx)
	defer end(nil)
	out := newOutput(p.Stdout, end)
	peer := newPeer(p.Stdin, end)
	var e ending // written before over is closed
	var last closers
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
		settle(limit, over)
		return sayDone(limit, out, cancelled, log)
	default:
		log.Error("run ended without DONE", "cause", context.Cause(live))
		settle(limit, over)
		_ = out.finish(limit, nil) // nobody may be left to read it
		return ExitProtocol
	}
	return sayDone(limit, out, e, log)
}

var cancelled = ending{
	status: protocol.DoneCancelled, verdict: verdict{code: "cancelled", message: "the run was cancelled", retryable: true},
}

// sayDone ends the conversation and gives the exit code that agrees with it.
func sayDone(limit context.Context, out *output, e ending, log *slog.Logger) int {
	if err := out.finish(limit, e.done); err != nil {
		log.Error("output was not read", "cause", err)
		return ExitFailed
	}
	if e.status != protocol.DoneSucceeded {
		return ExitFailed
	}
	return ExitSucceeded
}

// settle waits for a connector to notice that its run is over. One that does not
// is left behind.
func settle(limit context.Context, over <-chan struct{}) {
	select {
	case <-over:
	case <-limit.Done():
	}
}

// ending is how a run went.
type ending struct {
	status protocol.DoneStatus
	verdict
	cause error
}

func (e ending) done(records int64) protocol.Message {
	d := &protocol.Done{Status: e.status, RecordsEmitted: records}
	if e.status != protocol.DoneSucceeded {
		d.Error = &protocol.DoneError{Code: e.code, Message: e.message, Retryable: &e.retryable}
		if e.hint != "" {
			d.Error.RecoveryHint = &protocol.RecoveryHint{Action: e.hint}
		}
	}
	return d
}

func (e ending) log(log *slog.Logger) {
	if e.status != protocol.DoneSucceeded {
		log.Error(e.message, "code", e.code, "cause", governhttp.WithoutURL(e.cause))
	}
}

// failure is a classified end of a stream or of the run.
type failure struct {
	stream string
	verdict
	cause error
	whole bool // every stream would fail by it: the run ends
}

func (f *failure) Error() string {
	if f.cause == nil {
		return f.code
	}
	return f.code + ": " + f.cause.Error()
}

func (f *failure) Unwrap() error { return f.cause }

// failureOf classifies what a collector or Open returned.
func (r *run) failureOf(err error) *failure {
	var f *failure
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, ErrNotInteractive), errors.Is(err, ErrNotAnswered):
		return &failure{cause: err, verdict: verdict{
			code: "interaction_unanswered", message: "the connector needs an answer from the owner and got none",
			hint: protocol.ManualActionRequired,
		}}
	default:
		e := classify(err)
		return &failure{cause: err, verdict: r.verdictOf(e), whole: e.Class == Unauthorized || e.Class == Walled}
	}
}
