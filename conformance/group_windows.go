package conformance

import (
	"os"
	"syscall"
)

// narrow does nothing: a pipe holds here what it holds.
func narrow(*os.File) {}

func ownGroup() *syscall.SysProcAttr { return nil }

// signal ends the process: there is no gentler way here.
func (p *process) signal(syscall.Signal) { _ = p.cmd.Process.Kill() }
