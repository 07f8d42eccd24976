package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// childProcess is the running connector: the leader of its own process group, in an empty folder.
type childProcess struct {
	cmd    *exec.Cmd
	dir    string
	stdin  io.WriteCloser
	stdout *os.File
	stderr *stderrTail
	gone   chan struct{}
	err    error // of Wait; valid after the process has exited
}

func (t *Target) start(overrides map[string]string, small bool) (*childProcess, error) {
	dir, err := os.MkdirTemp("", "pdpp-conformance-")
	if err != nil {
		return nil, err
	}
	p := &childProcess{dir: dir, stderr: &stderrTail{}, gone: make(chan struct{})}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	defer w.Close()
	if small { // further output waits for the reader
		shrinkPipe(w)
	}
	p.cmd = exec.Command(t.Command[0], t.Command[1:]...)
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = dir, t.environment(dir, overrides), w, p.stderr
	p.cmd.SysProcAttr = ownGroup()
	p.cmd.WaitDelay = time.Second // for a descendant that keeps stderr open
	p.stdout = r
	if p.stdin, err = p.cmd.StdinPipe(); err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(err, r.Close(), os.RemoveAll(dir))
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.gone)
	}()
	return p, nil
}

// wait waits for the connector to exit, and kills the rest of its group. It reports whether the connector exited
// in time.
func (p *childProcess) wait(grace time.Duration) (inTime bool) {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.gone:
		inTime = true
	case <-timer.C:
	}
	p.signal(syscall.SIGKILL)
	<-p.gone
	return inTime
}

// close releases the resources of an exited process.
func (p *childProcess) close() { _, _ = p.stdout.Close(), os.RemoveAll(p.dir) }

func (p *childProcess) exit() string {
	var status syscall.WaitStatus
	if s, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok {
		status = s
	}
	if status.Signaled() {
		return "ended by signal " + status.Signal().String()
	}
	return fmt.Sprintf("exit code %d", p.cmd.ProcessState.ExitCode())
}

func (p *childProcess) code() int { return p.cmd.ProcessState.ExitCode() }

// stderrTail keeps the end of stderr.
type stderrTail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *stderrTail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	const most = 64 << 10
	t.buf = bytes.Clone(t.buf[max(0, len(t.buf)-most):])
	return len(b), nil
}

func (t *stderrTail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}

// last returns the last non-empty line.
func (t *stderrTail) last() string {
	lines := strings.Split(strings.TrimSpace(t.String()), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	return last[:min(len(last), 200)]
}
