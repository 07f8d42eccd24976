//go:build unix

package conformance

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// fSetPipeSize is F_SETPIPE_SZ of Linux. Other systems keep their pipe size.
const (
	fSetPipeSize = 1031
	pipeSize     = 4096
)

// shrinkPipe sets the smallest pipe size.
func shrinkPipe(pipe *os.File) { _, _ = unix.FcntlInt(pipe.Fd(), fSetPipeSize, pipeSize) }

func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func (p *childProcess) signal(s syscall.Signal) { _ = syscall.Kill(-p.cmd.Process.Pid, s) }
