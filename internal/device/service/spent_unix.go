//go:build unix

package service

import (
	"syscall"
	"time"
)

// spent is the processor time of this program and of the children that it has waited for;
// false when the system does not tell.
func spent() (time.Duration, bool) {
	var own, children syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &own) != nil || syscall.Getrusage(syscall.RUSAGE_CHILDREN, &children) != nil {
		return 0, false
	}
	return time.Duration(own.Utime.Nano() + own.Stime.Nano() + children.Utime.Nano() + children.Stime.Nano()), true
}
