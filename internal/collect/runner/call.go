package runner

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// maxSaid bounds what a called program is listened to.
const maxSaid = 64 << 10

// Call starts a program as a connector is started, confined and as its user, and gives what it
// says to its input. It is an error when it ends otherwise than well, with the last of what it
// complained of. It returns when nothing of it is left.
func Call(ctx context.Context, c Command) (string, error) {
	defer c.closeFiles()
	p, err := startProcess(c, defaultKillGrace)
	if err != nil {
		return "", err
	}
	defer p.Discard()
	given := make(chan struct{})
	go func() {
		defer close(given)
		defer p.CloseStdin()
		if c.Input != nil {
			_, _ = io.Copy(p, c.Input) // one that listens no longer has heard enough
		}
	}()
	defer func() { <-given }()
	over := context.AfterFunc(ctx, p.Terminate)
	defer over()
	said, err := io.ReadAll(io.LimitReader(p.Stdout(), maxSaid))
	if err != nil {
		p.Terminate()
	}
	if len(said) == maxSaid {
		p.Terminate() // it would wait for somebody to listen
	}
	exit, _ := p.Wait(0)
	complaint, _ := p.StderrTail()
	switch {
	case ctx.Err() != nil:
		return string(said), fmt.Errorf("it did not end in time: %w", ctx.Err())
	case exit.code != 0:
		return string(said), fmt.Errorf("%s: %s", exit, strings.TrimSpace(complaint))
	}
	return string(said), err
}
