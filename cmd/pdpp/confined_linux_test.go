//pdpp:tier programs

package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// Linux capabilities that let root ignore file permissions, and the prctl
// operation that takes one away for good.
const (
	prCapBsetDrop    = 24
	capDACOverride   = 1
	capDACReadSearch = 2
)

// playConfined runs a program that must respect file permissions even when the
// tests run as root.
func playConfined() {
	runtime.LockOSThread()
	if os.Getuid() == 0 {
		for _, c := range []uintptr{capDACOverride, capDACReadSearch} {
			if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prCapBsetDrop, c, 0); errno != 0 {
				fmt.Fprintln(os.Stderr, "drop capability:", errno)
				leave(1)
			}
		}
	}
	path, err := exec.LookPath(os.Args[1])
	if err == nil {
		err = syscall.Exec(path, os.Args[1:], os.Environ())
	}
	fmt.Fprintln(os.Stderr, err)
	leave(1)
}
