package conformance

import (
	"os"
	"syscall"
)

// shrinkPipe does nothing on Windows.
func shrinkPipe(*os.File) {}

func ownGroup() *syscall.SysProcAttr { return nil }

// signal kills the process, because Windows has no gentler way.
func (p *childProcess) signal(syscall.Signal) { _ = p.cmd.Process.Kill() }
