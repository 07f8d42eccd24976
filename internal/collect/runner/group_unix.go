//go:build unix

package runner

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
)

// group is a connector's process with everything that it starts.
type group struct{ leader int }

// ownGroup makes a process the leader of a group.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func groupOf(p *os.Process) (*group, error) { return &group{p.Pid}, nil }

func (g *group) ask() { _ = syscall.Kill(-g.leader, syscall.SIGTERM) }

func (g *group) kill() { _ = syscall.Kill(-g.leader, syscall.SIGKILL) }

// end leaves nothing of the group.
func (g *group) end() { g.kill() }

// runAs makes a command the user's, who may not be able to reach the program where it lies:
// it is started through a file that is open already.
func runAs(cmd *exec.Cmd, u User) (program *os.File, err error) {
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: u.UID, Gid: u.GID}
	if program, err = os.Open(cmd.Path); err != nil {
		return nil, err
	}
	cmd.ExtraFiles = append(slices.Clip(cmd.ExtraFiles), program)
	cmd.Path = fmt.Sprintf("/proc/self/fd/%d", 2+len(cmd.ExtraFiles))
	return program, nil
}

// signalOf names the signal that ended a process, if one did.
func signalOf(s *os.ProcessState) string {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return ws.Signal().String()
	}
	return ""
}

// alive reports whether there is a process of that id.
func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
