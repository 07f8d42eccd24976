// Package realserver runs server software that others wrote, for the tests and measurements of
// connectors, with a proxy in front that injects faults.
//
//	server.go  a server in a temporary folder, which ends with its starter
//	guard.go   ends a server after its starter was killed
//	shared.go  one server for all tests of a package
//	front.go   faults in front of a server that speaks HTTP
//	count.go   what such a server serves and refuses
//	wire.go    faults in front of a mail server
//	mail.go    commands to a mail server, as from another program of the owner
//	unpacked.go  where a server lies that is unpacked and not installed
//
// What exists is asked of such a server by a second road, its files or its own tools, never by what
// the connector reads.
package realserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Command is how a server is started.
type Command struct {
	Program string
	Args    []string
	Dir     string
	Env     []string // all of it
	// Ready is asked until it agrees: the server answers.
	Ready func(ctx context.Context) error
}

// Server is a server at work.
type Server struct {
	cmd    *exec.Cmd
	guard  *processGuard
	ended  chan struct{} // closed when the process is gone; then err is set
	err    error
	output outputExcerpt
}

// maxStartTime is how long a server may take to begin or to end on a busy machine.
const maxStartTime = 3 * time.Minute

// StartServer starts a server and waits until it is ready. It has a process group of its own. It ends with
// Stop, and with the process that started it.
func StartServer(c Command) (*Server, error) {
	s := &Server{cmd: exec.Command(c.Program, c.Args...), ended: make(chan struct{})}
	s.cmd.Dir, s.cmd.Env, s.cmd.Stdout, s.cmd.Stderr = c.Dir, c.Env, &s.output, &s.output
	if s.cmd.Env == nil {
		s.cmd.Env = []string{}
	}
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	s.cmd.WaitDelay = maxStartTime
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Program, err)
	}
	var err error
	s.guard, err = startGuard(s.cmd.Process.Pid)
	go func() {
		s.err = s.cmd.Wait()
		close(s.ended)
	}()
	if err != nil {
		return nil, fmt.Errorf("watch over %s: %w", c.Program, errors.Join(err, s.Stop()))
	}
	if err := s.waitUntilReady(c.Ready); err != nil {
		return nil, fmt.Errorf("wait for %s: %w", c.Program, errors.Join(err, s.Stop()))
	}
	return s, nil
}

func (s *Server) waitUntilReady(ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), maxStartTime)
	defer cancel()
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-s.ended:
			return fmt.Errorf("it ended by itself: %w: %s", errors.Join(s.err, err), &s.output)
		case <-ctx.Done():
			return err
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Stop ends the server and everything that it started.
func (s *Server) Stop() error {
	group := -s.cmd.Process.Pid
	defer s.guard.dismissGuard()
	_ = syscall.Kill(s.cmd.Process.Pid, syscall.SIGTERM) // it may have ended already
	var late error
	select {
	case <-s.ended:
	case <-time.After(maxStartTime / 2):
		late = fmt.Errorf("%s did not end when told to", s.cmd.Path)
	}
	_ = syscall.Kill(group, syscall.SIGKILL) // what outlived its parent
	<-s.ended
	for deadline := time.Now().Add(maxStartTime); syscall.Kill(group, 0) == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return errors.Join(late, fmt.Errorf("processes of %s are left", s.cmd.Path))
		}
	}
	return late
}

// Pid is the server's process, which leads its group.
func (s *Server) Pid() int { return s.cmd.Process.Pid }

// FreePort returns a port on loopback without a listener. Another process may take it first:
// who starts one tries again with another port.
func FreePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// IsListening returns an error unless a process listens at the address.
func IsListening(ctx context.Context, address string) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return conn.Close()
}

// outputExcerpt keeps the beginning of a server's output.
type outputExcerpt struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *outputExcerpt) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if room := 4096 - s.b.Len(); room > 0 {
		s.b.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (s *outputExcerpt) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
