package limitertest

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// process is a limiter that runs. It ends with stop, and with the process that
// started it.
type process struct {
	cmd    *exec.Cmd
	ended  chan struct{} // closed when the process has ended; then err and output are set
	err    error
	output bytes.Buffer
}

// launch starts a program that keeps to the folder dir.
func launch(program, dir string, args ...string) (*process, error) {
	p := &process{cmd: exec.Command(program, args...), ended: make(chan struct{})}
	p.cmd.Dir, p.cmd.Stderr, p.cmd.Env = dir, &p.output, []string{}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	started := make(chan error)
	go func() {
		// The death signal comes when the starting thread ends, so this one stays.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.err = p.cmd.Wait()
			close(p.ended)
		}
	}()
	return p, <-started
}

// ready asks for a page that is not limited until it is served.
func (p *process) ready(url string) error {
	client := http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	for deadline := time.Now().Add(3 * time.Minute); ; {
		resp, err := client.Get(url + "/ready")
		if err == nil {
			defer resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				return errors.New("answer " + resp.Status)
			}
			return nil
		}
		select {
		case <-p.ended:
			return err
		case <-time.After(5 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return err
		}
	}
}

// running reports whether the process is still there.
func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// stop ends the process. err holds how it ended, and said holds its output.
func (p *process) stop() error {
	if !p.running() {
		return fmt.Errorf("ended by itself: %w: %s", p.err, bytes.TrimSpace(p.output.Bytes()))
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	select {
	case <-p.ended:
		return nil
	case <-time.After(3 * time.Minute):
		_ = p.cmd.Process.Kill()
		<-p.ended
		return errors.New("did not end when told to")
	}
}
