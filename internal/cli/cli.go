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
	"os"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
)

// Env is the process as the program passes it to Main.
type Env = command.Env

// Main runs one command and returns the exit code.
func Main(env command.Env) int {
	inv := &command.Invocation{Env: env, Out: &output.PlainText{Writer: env.Stdout},
		ErrOut: &output.PlainText{Writer: env.Stderr}}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	over := make(chan struct{})
	defer close(over)
	inv.Cancel = cancel
	go watchInterrupts(inv, over)

	root := newRootCommand(inv)
	root.SetArgs(env.Args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return failure.ExitOK
	}
	if !inv.Started {
		err = arguments.ParserError(cmd, err)
		inv.JSON = inv.JSON || slices.Contains(env.Args, "--json") // the parser may have stopped before it
	}
	var done *failure.ExitError
	if errors.As(err, &done) {
		return done.Code
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = context.Cause(ctx)
	}
	e := failure.Describe(err)
	inv.ReportError(e)
	return e.Exit
}

// repeatedSignalWindow is how long further signals after the first are ignored: a program that ends a whole group of
// processes often signals this one twice.
const repeatedSignalWindow = 300 * time.Millisecond

// watchInterrupts cancels the command at the first signal, and ends the program at the second.
func watchInterrupts(inv *command.Invocation, over <-chan struct{}) {
	var first time.Time
	for {
		select {
		case <-over:
			return
		case s := <-inv.Env.Interrupts:
			switch {
			case first.IsZero():
				first = time.Now()
				if s == os.Interrupt {
					inv.Cancel(runner.ErrOwnerCancelled)
				} else {
					inv.Cancel(failure.ErrTerminated)
				}
			case time.Since(first) >= repeatedSignalWindow:
				inv.Env.Exit(failure.ExitCancelled)
			}
		}
	}
}
