//go:build unix

package childprocess

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
)

// processGroup is a child process with all of its descendants that stay in its group.
type processGroup struct{ leader int }

// groupLeader returns attributes that make a process the leader of a new group.
func groupLeader() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func newProcessGroup(p *os.Process) (*processGroup, error) { return &processGroup{p.Pid}, nil }

func (g *processGroup) interrupt() { _ = syscall.Kill(-g.leader, syscall.SIGTERM) }

func (g *processGroup) kill() { _ = syscall.Kill(-g.leader, syscall.SIGKILL) }

// release kills the remaining processes of the group.
func (g *processGroup) release() { g.kill() }

// runAsUser makes the command run as another user. That user may have no access to the program's folder, so the
// program is opened here and started through its descriptor. The caller closes the returned file.
func runAsUser(cmd *exec.Cmd, u User) (program *os.File, err error) {
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: u.UID, Gid: u.GID}
	if program, err = os.Open(cmd.Path); err != nil {
		return nil, err
	}
	cmd.ExtraFiles = append(slices.Clip(cmd.ExtraFiles), program)
	cmd.Path = fmt.Sprintf("/proc/self/fd/%d", 2+len(cmd.ExtraFiles))
	return program, nil
}

// exitSignal returns the name of the signal that ended a process, or "".
func exitSignal(s *os.ProcessState) string {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return ws.Signal().String()
	}
	return ""
}

// processExists reports whether a process with this id exists.
func processExists(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
