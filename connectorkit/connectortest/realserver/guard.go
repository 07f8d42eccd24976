package realserver

import (
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"syscall"
)

// guard ends a group of processes when the process that made the guard is gone, however it went. The
// signal that the kernel sends at the death of a parent does not do: a server that changes its user, as
// some mail servers do, no longer gets it.
type guard struct {
	cmd  *exec.Cmd
	line io.WriteCloser // the guard waits for its end, which comes with that of its holder
}

// order is what a guard does: told to go, it goes; when the line ends without a word, it ends the group.
const order = `read -r word && exit 0; kill -s TERM -- "-$1" 2>/dev/null; for i in 1 2 3 4 5 6 7 8 9 10; do kill -s 0 -- "-$1" 2>/dev/null || exit 0; sleep 1; done; kill -s KILL -- "-$1"`

// watch has a guard stand over a group of processes. It is in a group of its own.
func watch(group int) (*guard, error) {
	g := &guard{cmd: exec.Command("/bin/sh", "-c", order, "guard", strconv.Itoa(group))}
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

// dismiss lets the guard go, when the group is no more.
func (g *guard) dismiss() {
	if g == nil {
		return
	}
	_, _ = io.WriteString(g.line, "go\n") // one that is gone already hears nothing
	_ = g.line.Close()
	_ = g.cmd.Wait()
}
