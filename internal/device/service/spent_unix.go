//go:build unix

package service

import (
	"syscall"
	"time"
)

// spent returns the processor time of this program and its finished child processes. It reports false
// if the system does not provide the time.
func spent() (time.Duration, bool) {
	var own, children syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &own) != nil ||
		syscall.Getrusage(syscall.RUSAGE_CHILDREN, &children) != nil {
		return 0, false
	}
	return time.Duration(own.Utime.Nano() + own.Stime.Nano() + children.Utime.Nano() + children.Stime.Nano()), true
}
