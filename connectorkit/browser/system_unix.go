//go:build unix

package browser

import (
	"os"
	"syscall"

	"github.com/pdpp-go/pdpp/protocol"
)

// attributes put the browser into a group of its own, and under another user when the
// connector is root: Chromium's sandbox does not work for root.
func attributes(u *protocol.BrowserUser) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if u != nil && os.Geteuid() == 0 {
		a.Credential = &syscall.Credential{Uid: u.UID, Gid: u.GID}
	}
	return a
}

// endGroup ends what is left of the browser's group.
func endGroup(leader *os.Process) { _ = syscall.Kill(-leader.Pid, syscall.SIGKILL) }

// own makes an inherited file this process's alone: the browser has no business with it.
func own(fd int) error {
	syscall.CloseOnExec(fd)
	return syscall.SetNonblock(fd, true)
}
