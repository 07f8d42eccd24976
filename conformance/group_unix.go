//go:build unix

package conformance

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// fSetPipeSize is F_SETPIPE_SZ of Linux. Elsewhere a pipe holds what it holds.
const (
	fSetPipeSize = 1031
	pipeSize     = 4096
)

// narrow makes a pipe as small as it can be.
func narrow(pipe *os.File) { _, _ = unix.FcntlInt(pipe.Fd(), fSetPipeSize, pipeSize) }

func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func (p *process) signal(s syscall.Signal) { _ = syscall.Kill(-p.cmd.Process.Pid, s) }
