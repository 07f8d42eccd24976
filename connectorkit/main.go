package connectorkit

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/failure"
	"github.com/pdpp-go/pdpp/connectorkit/internal/driftwatch"
	"github.com/pdpp-go/pdpp/connectorkit/internal/runnerlink"
	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
	"github.com/pdpp-go/pdpp/connectorkit/internal/secretmask"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// Exit codes of a connector process.
const (
	ExitSucceeded = 0
	ExitFailed    = 1 // DONE with failed or cancelled
	ExitProtocol  = 2 // the runner disappeared or violated the protocol; there is no DONE
)

// maxExitWait bounds how long a finished process waits for its reader.
const maxExitWait = 3 * time.Second

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
	secrets, known := runnerlink.NewLogRedactor(p.Stderr), secretmask.NewKnownSecrets(p.Env("PDPP_SOURCE_KEY"))
	for _, name := range c.Manifest.SecretEnv() {
		secrets.HideSecret(p.Env(name))
		if !c.Manifest.IsPlainSetting(name) { // a record may have the address of a server, or a name
			known.Add(p.Env(name))
		}
	}
	log := slog.New(slog.NewTextHandler(secrets, nil))

	live, end := context.WithCancelCause(ctx)
	defer end(nil)
	out := runnerlink.NewLineOutput(p.Stdout, known.CleanLine, end)
	peer := runnerlink.NewRunnerPeer(p.Stdin, end)
	var e runEnding // written before over is closed
	var last runnerlink.CloserStack
	over := make(chan struct{})
	go func() {
		defer close(over)
		select {
		case start := <-peer.Started:
			e = runToEnd(live, c, &Setup{Log: log, p: p, closers: &last, r: runstate.New(runstate.RunSettings{
				Manifest: c.Manifest, Env: p.Env, Now: p.Now, Validate: c.Validate, Quick: c.quickSchemas(),
				Drift: driftwatch.NewDriftWatch(c.Answers, c.Learned), Start: start, Out: out, Peer: peer, Log: log,
				Secrets: secrets, Known: known,
			})})
		case <-live.Done():
		}
	}()
	select {
	case <-over:
	case <-live.Done():
	}
	limit, cancel := context.WithTimeout(context.Background(), maxExitWait)
	defer cancel()
	defer last.RunClosers(limit)
	switch {
	case live.Err() == nil:
		e.logFailure(log)
	case ctx.Err() != nil:
		waitForEnd(limit, over)
		return sendDone(limit, out, cancelledEnding, log)
	default:
		log.Error("run ended without DONE", "cause", context.Cause(live))
		waitForEnd(limit, over)
		_ = out.FinishOutput(limit, nil) // the reader may be gone
		return ExitProtocol
	}
	return sendDone(limit, out, e, log)
}

var cancelledEnding = runEnding{
	status:  protocol.DoneCancelled,
	Verdict: failure.Verdict{Code: "cancelled", Message: "the run was cancelled", Retryable: true},
}

// sendDone sends DONE and returns the matching exit code.
func sendDone(limit context.Context, out *runnerlink.LineOutput, e runEnding, log *slog.Logger) int {
	if err := out.FinishOutput(limit, e.doneMessage); err != nil {
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
	failure.Verdict
	cause error
}

func (e runEnding) doneMessage(records int64) protocol.Message {
	d := &protocol.Done{Status: e.status, RecordsEmitted: records}
	if e.status != protocol.DoneSucceeded {
		d.Error = &protocol.DoneError{Code: e.Code, Message: e.Message, Retryable: &e.Retryable}
		if e.Hint != "" {
			d.Error.RecoveryHint = &protocol.RecoveryHint{Action: e.Hint}
		}
	}
	return d
}

func (e runEnding) logFailure(log *slog.Logger) {
	if e.status != protocol.DoneSucceeded {
		log.Error(e.Message, "code", e.Code, "cause", governhttp.WithoutURL(e.cause))
	}
}
