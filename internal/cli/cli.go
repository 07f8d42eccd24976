// Package cli is the owner's command line: collecting in the foreground,
// looking at what is kept, and deciding about gaps and bookmarks.
//
// It reads no environment and owns no streams; a program hands both in. Every
// command has a plain and a JSON form, and ends with one of the exit codes of
// errors.go. Results go to standard output, progress and errors to standard
// error.
package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/web/auth"
)

// Env is the world as the program sees it.
type Env struct {
	Args   []string // without the program's name
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// Lookup reads an environment variable.
	Lookup func(name string) (string, bool)
	// LookPath finds a program on the owner's search path.
	LookPath func(name string) (string, error)
	// Executable is the path of the running program; the host of the built-in
	// connectors is looked for beside it.
	Executable string
	// Holder names this process in lease rows.
	Holder string
	// Interrupts are wishes to stop: os.Interrupt is the owner's, any other
	// signal the system's. The first one cancels, the second one calls Exit.
	Interrupts <-chan os.Signal
	Exit       func(code int)
	Now        func() time.Time
	// BusyTimeout is how long a locked SQLite database is waited for; zero is
	// the store's own default.
	BusyTimeout time.Duration
	// HashCost is that of the owner's new passwords; zero is that of every server.
	HashCost auth.HashCost
	// SealWork is that of trying out the passphrase of a new archive; zero is that of every archive.
	SealWork int
}

// Main runs one command and gives the exit code.
func Main(env Env) int {
	a := &app{env: env, out: &plainText{w: env.Stdout}, errOut: &plainText{w: env.Stderr}}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	over := make(chan struct{})
	defer close(over)
	a.cancel = cancel
	go a.watchInterrupts(over)

	root := a.rootCommand()
	root.SetArgs(env.Args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return ExitOK
	}
	if !a.started {
		err = usageError(cmd, err)
		a.json = a.json || slices.Contains(env.Args, "--json") // the parser may have stopped before it
	}
	var done *exitOnly
	if errors.As(err, &done) {
		return done.code
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = context.Cause(ctx)
	}
	e := describe(err)
	a.report(e)
	return e.Exit
}

// app is one execution of a command.
type app struct {
	env    Env
	out    io.Writer
	errOut io.Writer

	home        string
	databaseURL string
	serverURL   string
	json        bool
	connection  string

	cancel context.CancelCauseFunc
	// started is set once arguments are accepted: an error before that is one of usage.
	started bool
}

// errTerminated is the cause of a stop that the owner did not ask for here.
var errTerminated = errors.New("the system asked the program to stop")

// sameWish is how long after the first signal another is its echo: who ends a whole
// group of processes often signals this one twice.
const sameWish = 300 * time.Millisecond

// watchInterrupts stops what is under way at the first wish, and ends the program at
// the second.
func (a *app) watchInterrupts(over <-chan struct{}) {
	var first time.Time
	for {
		select {
		case <-over:
			return
		case s := <-a.env.Interrupts:
			switch {
			case first.IsZero():
				first = time.Now()
				if s == os.Interrupt {
					a.cancel(runner.ErrOwnerCancelled)
				} else {
					a.cancel(errTerminated)
				}
			case time.Since(first) >= sameWish:
				a.env.Exit(ExitCancelled)
			}
		}
	}
}

// report prints an error the way the owner, or their script, reads it.
func (a *app) report(e *Error) {
	if a.json {
		writeJSON(a.errOut, map[string]any{"error": e})
		return
	}
	printf(a.errOut, "pdpp: %s\n", e.Message)
	if e.Next != "" {
		printf(a.errOut, "next: %s\n", e.Next)
	}
}
