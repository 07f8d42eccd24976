//go:build unix

package browser

import (
	"os"
	"syscall"

	"github.com/pdpp-go/pdpp/protocol"
)

// processAttributes put the browser into a group of its own, and under another user when the
// connector is root: Chromium's sandbox does not work for root.
func processAttributes(u *protocol.BrowserUser) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if u != nil && os.Geteuid() == 0 {
		a.Credential = &syscall.Credential{Uid: u.UID, Gid: u.GID}
	}
	return a
}

// killProcessGroup ends what is left of the browser's group.
func killProcessGroup(leader *os.Process) { _ = syscall.Kill(-leader.Pid, syscall.SIGKILL) }

// closeOnExec keeps an inherited file from the browser.
func closeOnExec(fd int) error {
	syscall.CloseOnExec(fd)
	return syscall.SetNonblock(fd, true)
}
