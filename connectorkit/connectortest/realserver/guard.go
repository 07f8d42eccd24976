package realserver

import (
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"syscall"
)

// processGuard ends a group of processes when the process that made the guard is gone, however it went. The
// signal that the kernel sends at the death of a parent does not do: a server that changes its user, as
// some mail servers do, no longer gets it.
type processGuard struct {
	cmd  *exec.Cmd
	line io.WriteCloser // the guard waits for its end, which comes with that of its holder
}

// guardScript is the guard's program: a word on stdin dismisses it; end of input without a word ends the group.
const guardScript = `read -r word && exit 0; kill -s TERM -- "-$1" 2>/dev/null; for i in 1 2 3 4 5 6 7 8 9 10; do ` +
	`kill -s 0 -- "-$1" 2>/dev/null || exit 0; sleep 1; done; kill -s KILL -- "-$1"`

// startGuard starts a guard for a group of processes. It is in a group of its own.
func startGuard(group int) (*processGuard, error) {
	g := &processGuard{cmd: exec.Command("/bin/sh", "-c", guardScript, "guard", strconv.Itoa(group))}
	g.cmd.Env = []string{"PATH=/usr/bin:/bin"}
	g.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	line, err := g.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	g.line = line
	if err := g.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a guard: %w", err)
	}
	return g, nil
}

// dismissGuard lets the guard go, when the group is no more.
func (g *processGuard) dismissGuard() {
	if g == nil {
		return
	}
	_, _ = io.WriteString(g.line, "go\n") // one that is gone already hears nothing
	_ = g.line.Close()
	_ = g.cmd.Wait()
}
