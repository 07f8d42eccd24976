package childprocess

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/foreign/confine"
)

// MaxStderrTail is the number of bytes of a child's stderr that are stored.
const MaxStderrTail = 8 << 10

// ExitStatus describes how a process ended.
type ExitStatus struct {
	Code   int // -1 when a signal ended it
	Signal string
	Killed bool // SIGTERM was not enough
}

func (e ExitStatus) String() string {
	if e.Signal != "" {
		return "ended by signal " + e.Signal
	}
	return fmt.Sprintf("exit code %d", e.Code)
}

// Process is a running child: the leader of its own process group, in a working directory that is also its HOME
// and TMPDIR.
type Process struct {
	cmd        *exec.Cmd
	group      *processGroup
	dir        string
	dirCreated bool // by Start; Discard removes it
	stdin      *os.File
	stdout     *outputPipe
	stderr     *outputPipe
	stderrTail *TailBuffer
	killGrace  time.Duration

	closeStdin sync.Once
	terminate  sync.Once
	mu         sync.Mutex
	killed     bool
	reaped     chan struct{} // closed when the process id may be reused
	gone       chan struct{} // closed when no part of the group is left
	exit       ExitStatus
}

// Start starts the command. killGrace is the time between SIGTERM and SIGKILL in Terminate. The caller must call
// Wait and then Discard.
func Start(c Command, killGrace time.Duration) (*Process, error) {
	if c.Refusal != nil {
		return nil, c.Refusal
	}
	dir, created := c.Dir, c.Dir == ""
	if created {
		var err error
		if dir, err = createWorkdir(); err != nil {
			return nil, fmt.Errorf("make working directory: %w", err)
		}
	}
	p := &Process{dir: dir, dirCreated: created, stderrTail: &TailBuffer{Limit: MaxStderrTail},
		killGrace: killGrace, reaped: make(chan struct{}), gone: make(chan struct{})}
	if err := p.start(c); err != nil {
		p.Discard()
		return nil, err
	}
	return p, nil
}

// start opens the pipes and starts the process with its confinement.
func (p *Process) start(c Command) (err error) {
	var ours [3]*os.File
	var theirs [3]*os.File
	defer func() {
		for _, f := range theirs {
			if f != nil {
				_ = f.Close()
			}
		}
		if err != nil {
			for _, f := range ours {
				if f != nil {
					_ = f.Close()
				}
			}
		}
	}()
	for i := range ours {
		r, w, err := os.Pipe()
		if err != nil {
			return fmt.Errorf("open pipe: %w", err)
		}
		if ours[i], theirs[i] = r, w; i == 0 {
			ours[i], theirs[i] = w, r
		}
	}
	p.cmd = &exec.Cmd{
		Path: c.Path, Args: append([]string{c.Path}, c.Args...),
		Env: append([]string{"HOME=" + p.dir, "TMPDIR=" + p.dir}, c.Env...), Dir: p.dir,
		Stdin: theirs[0], Stdout: theirs[1], Stderr: theirs[2], ExtraFiles: c.Files,
		SysProcAttr: groupLeader(),
	}
	if c.User != nil {
		program, err := runAsUser(p.cmd, *c.User)
		if err != nil {
			return fmt.Errorf("start connector: %w", err)
		}
		defer func() { _ = program.Close() }()
	}
	if err := p.startConfined(c.Limits); err != nil {
		return fmt.Errorf("start connector: %w", err)
	}
	if p.group, err = newProcessGroup(p.cmd.Process); err != nil {
		_ = p.cmd.Process.Kill()
		_, _ = p.cmd.Process.Wait()
		return fmt.Errorf("start connector: %w", err)
	}
	p.stdin, p.stdout, p.stderr = ours[0], newOutputPipe(ours[1]), newOutputPipe(ours[2])
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(p.stderrTail, p.stderr)
	}()
	go p.reap(drained)
	return nil
}

func (p *Process) startConfined(l confine.Limits) error {
	if l.Program == "" {
		return p.cmd.Start()
	}
	l.Write = append(slices.Clip(l.Write), p.dir)
	return l.Start(p.cmd.Start)
}

// reap waits for the process and then kills the rest of its group, so that no descendant and no zombie remains.
func (p *Process) reap(drained <-chan struct{}) {
	err := p.cmd.Wait()
	close(p.reaped)
	p.group.release()
	p.stdout.processExited()
	p.stderr.processExited()
	<-drained
	_ = p.stderr.file.Close()

	exit := ExitStatus{Code: p.cmd.ProcessState.ExitCode()}
	var ee *exec.ExitError
	if errors.As(err, &ee) {
		exit.Signal = exitSignal(p.cmd.ProcessState)
	}
	p.mu.Lock()
	exit.Killed = p.killed
	p.mu.Unlock()
	p.exit = exit
	close(p.gone)
}

// Write writes to the standard input of the process.
func (p *Process) Write(b []byte) (int, error) { return p.stdin.Write(b) }

// CloseStdin closes the standard input of the process. It may be called more than once.
func (p *Process) CloseStdin() { p.closeStdin.Do(func() { _ = p.stdin.Close() }) }

// Stdout returns the standard output of the process. It ends when the process has exited and all is read.
func (p *Process) Stdout() io.Reader { return p.stdout }

// StderrTail returns the end of the standard error, and whether earlier output was dropped.
func (p *Process) StderrTail() (string, bool) { return p.stderrTail.Tail() }

// Terminate sends SIGTERM to the group, and SIGKILL after the grace period. It does not block.
func (p *Process) Terminate() {
	p.terminate.Do(func() {
		p.ifRunning(p.group.interrupt)
		go func() {
			timer := time.NewTimer(p.killGrace)
			defer timer.Stop()
			select {
			case <-p.reaped:
			case <-timer.C:
				p.mu.Lock()
				p.killed = true
				p.mu.Unlock()
				p.ifRunning(p.group.kill)
			}
		}()
	})
}

// ifRunning calls do unless the process was reaped: afterwards its id may belong to another process.
func (p *Process) ifRunning(do func()) {
	select {
	case <-p.reaped:
	default:
		do()
	}
}

// Wait waits until the process group has ended, closes this end of the pipes and returns the exit status. It
// returns false when the grace period ends first. A grace of zero waits without limit: call Terminate before.
func (p *Process) Wait(grace time.Duration) (ExitStatus, bool) {
	var limit <-chan time.Time
	if grace > 0 {
		timer := time.NewTimer(grace)
		defer timer.Stop()
		limit = timer.C
	}
	select {
	case <-p.gone:
		p.CloseStdin()
		_ = p.stdout.file.Close()
		return p.exit, true
	case <-limit:
		return ExitStatus{}, false
	}
}

// Dir returns the working directory.
func (p *Process) Dir() string { return p.dir }

// Discard removes the working directory if Start created it. Call it when the files in it are no longer needed.
func (p *Process) Discard() {
	if p.dirCreated {
		removeTree(p.dir)
	}
}
