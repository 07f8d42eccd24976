// Package childprocess starts connectors and helper programs as child processes and ends them completely.
//
// A child leads its own process group, runs in an empty working directory and gets exactly the environment and
// the files of its Command. When it exits, the rest of its group is killed.
package childprocess

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/foreign/confine"
)

// DefaultKillGrace is the time between SIGTERM and SIGKILL: enough for a DONE that is ready, and too short for an
// owner to notice.
const DefaultKillGrace = 250 * time.Millisecond

// maxCallOutput bounds the output that Call returns.
const maxCallOutput = 64 << 10

// Command is an executable with its complete environment.
type Command struct {
	Path string
	Args []string
	Env  []string
	// Secrets are values that must not appear in any output that is stored or logged.
	Secrets []string
	// Files are inherited after the three standard files, from descriptor 3 on. Run and Call close them.
	Files []*os.File
	// Dir is an empty working directory that the caller removes. When it is empty, Start creates one.
	Dir string
	// User is the system user of the process; nil means the user of this process.
	User *User
	// Limits are the files that the process may access, besides its working directory. A Limits without a
	// program does not confine the process.
	Limits confine.Limits
	// Refusal, when set, is the error that Start returns instead of starting the process.
	Refusal error
	// Input is the standard input of a program started by Call; nil means an empty input.
	Input io.Reader
}

// CloseFiles closes the inherited files in this process. It may be called more than once.
func (c Command) CloseFiles() {
	for _, f := range c.Files {
		_ = f.Close()
	}
}

// User identifies a user of the operating system.
type User struct{ UID, GID uint32 }

// Call runs a program with the confinement and the user of a connector and returns its output. A program that
// exits with an error returns the end of its stderr in the error. Call returns after the process group has ended.
func Call(ctx context.Context, c Command) (string, error) {
	defer c.CloseFiles()
	p, err := Start(c, DefaultKillGrace)
	if err != nil {
		return "", err
	}
	defer p.Discard()
	inputDone := make(chan struct{})
	go func() {
		defer close(inputDone)
		defer p.CloseStdin()
		if c.Input != nil {
			_, _ = io.Copy(p, c.Input) // a program may exit before it has read all of its input
		}
	}()
	defer func() { <-inputDone }()
	stop := context.AfterFunc(ctx, p.Terminate)
	defer stop()
	output, err := io.ReadAll(io.LimitReader(p.Stdout(), maxCallOutput))
	if err != nil || len(output) == maxCallOutput { // a program with more output would block on a full pipe
		p.Terminate()
	}
	exit, _ := p.Wait(0)
	stderr, _ := p.StderrTail()
	switch {
	case ctx.Err() != nil:
		return string(output), fmt.Errorf("it did not end in time: %w", ctx.Err())
	case exit.Code != 0:
		return string(output), fmt.Errorf("%s: %s", exit, strings.TrimSpace(stderr))
	}
	return string(output), err
}
