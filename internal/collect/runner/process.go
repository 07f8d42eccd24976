package runner

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/foreign/confine"
)

// exitStatus is how a process ended.
type exitStatus struct {
	code   int // -1 when a signal ended it
	signal string
	killed bool // we had to use SIGKILL
}

func (e exitStatus) String() string {
	if e.signal != "" {
		return "ended by signal " + e.signal
	}
	return fmt.Sprintf("exit code %d", e.code)
}

// process is a connector child: leader of its own process group, in an empty
// working directory that is its folder for temporary files too, with exactly the
// environment and the files that it was given.
type process struct {
	cmd       *exec.Cmd
	group     *group
	dir       string
	made      bool // dir is the run's own
	stdin     *os.File
	stdout    *pipe
	stderr    *pipe
	tail      *tailBuffer
	killGrace time.Duration

	closeStdin sync.Once
	terminate  sync.Once
	mu         sync.Mutex
	killed     bool
	reaped     chan struct{} // the process id is free again
	gone       chan struct{} // and nothing of the process is left
	exit       exitStatus
}

func startProcess(c Command, killGrace time.Duration) (*process, error) {
	if c.Refusal != nil {
		return nil, c.Refusal
	}
	dir, made := c.Dir, c.Dir == ""
	if made {
		var err error
		if dir, err = makeWorkdir(); err != nil {
			return nil, fmt.Errorf("make working directory: %w", err)
		}
	}
	p := &process{dir: dir, made: made, tail: &tailBuffer{max: maxStderrTail}, killGrace: killGrace,
		reaped: make(chan struct{}), gone: make(chan struct{})}
	if err := p.start(c); err != nil {
		p.Discard()
		return nil, err
	}
	return p, nil
}

func (p *process) start(c Command) (err error) {
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
		SysProcAttr: ownGroup(),
	}
	if c.User != nil {
		program, err := runAs(p.cmd, *c.User)
		if err != nil {
			return fmt.Errorf("start connector: %w", err)
		}
		defer func() { _ = program.Close() }()
	}
	if err := p.startConfined(c.Limits); err != nil {
		return fmt.Errorf("start connector: %w", err)
	}
	if p.group, err = groupOf(p.cmd.Process); err != nil {
		_ = p.cmd.Process.Kill()
		_, _ = p.cmd.Process.Wait()
		return fmt.Errorf("start connector: %w", err)
	}
	p.stdin, p.stdout, p.stderr = ours[0], newPipe(ours[1]), newPipe(ours[2])
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(p.tail, p.stderr)
	}()
	go p.reap(drained)
	return nil
}

func (p *process) startConfined(l confine.Limits) error {
	if l.Program == "" {
		return p.cmd.Start()
	}
	l.Write = append(slices.Clip(l.Write), p.dir)
	return l.Start(p.cmd.Start)
}

// reap waits for the process, then ends whatever is left of its group, so that
// no descendant outlives the run and no zombie stays.
func (p *process) reap(drained <-chan struct{}) {
	err := p.cmd.Wait()
	close(p.reaped)
	p.group.end()
	p.stdout.ended()
	p.stderr.ended()
	<-drained
	_ = p.stderr.file.Close()

	exit := exitStatus{code: p.cmd.ProcessState.ExitCode()}
	var ee *exec.ExitError
	if errors.As(err, &ee) {
		exit.signal = signalOf(p.cmd.ProcessState)
	}
	p.mu.Lock()
	exit.killed = p.killed
	p.mu.Unlock()
	p.exit = exit
	close(p.gone)
}

func (p *process) Write(b []byte) (int, error) { return p.stdin.Write(b) }

func (p *process) CloseStdin() { p.closeStdin.Do(func() { _ = p.stdin.Close() }) }

func (p *process) Stdout() io.Reader { return p.stdout }

func (p *process) StderrTail() (string, bool) { return p.tail.tail() }

// Terminate asks the group to end and, after the grace, ends it.
func (p *process) Terminate() {
	p.terminate.Do(func() {
		p.living(p.group.ask)
		go func() {
			timer := time.NewTimer(p.killGrace)
			defer timer.Stop()
			select {
			case <-p.reaped:
			case <-timer.C:
				p.mu.Lock()
				p.killed = true
				p.mu.Unlock()
				p.living(p.group.kill)
			}
		}()
	})
}

// living does something to the group while it is the process's: later its id may belong
// to someone else.
func (p *process) living(do func()) {
	select {
	case <-p.reaped:
	default:
		do()
	}
}

// Wait closes the run's end of the pipes once the process is gone. A grace of
// zero waits without limit, which is safe after Terminate.
func (p *process) Wait(grace time.Duration) (exitStatus, bool) {
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
		return exitStatus{}, false
	}
}

func (p *process) Dir() string { return p.dir }

// Discard is called when the process is gone and what it left is taken.
func (p *process) Discard() {
	if p.made {
		removeTree(p.dir)
	}
}

// maxStderrTail is what a failed run keeps of the connector's own words.
const maxStderrTail = 8 << 10

// removeTree removes the working directory, whatever modes the connector has
// set inside it.
func removeTree(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}
