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

// process is the connector at work: the leader of its own group, in an empty folder.
type process struct {
	cmd    *exec.Cmd
	dir    string
	stdin  io.WriteCloser
	stdout *os.File
	stderr *tail
	gone   chan struct{}
	err    error // of Wait; read it when the process is gone
}

func (t *Target) start(overrides map[string]string, small bool) (*process, error) {
	dir, err := os.MkdirTemp("", "pdpp-conformance-")
	if err != nil {
		return nil, err
	}
	p := &process{dir: dir, stderr: &tail{}, gone: make(chan struct{})}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	defer w.Close()
	if small { // what is written beyond it has to wait for its reader
		narrow(w)
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

// wait gives the connector its time to exit, and ends whatever is left of its group.
func (p *process) wait(grace time.Duration) (inTime bool) {
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

// close gives up what is left of a process that is gone.
func (p *process) close() { _, _ = p.stdout.Close(), os.RemoveAll(p.dir) }

func (p *process) exit() string {
	var status syscall.WaitStatus
	if s, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok {
		status = s
	}
	if status.Signaled() {
		return "ended by signal " + status.Signal().String()
	}
	return fmt.Sprintf("exit code %d", p.cmd.ProcessState.ExitCode())
}

func (p *process) code() int { return p.cmd.ProcessState.ExitCode() }

// tail keeps the last words on stderr.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	const most = 64 << 10
	t.buf = bytes.Clone(t.buf[max(0, len(t.buf)-most):])
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}

// last gives the last line that says something.
func (t *tail) last() string {
	lines := strings.Split(strings.TrimSpace(t.String()), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	return last[:min(len(last), 200)]
}
