// Package seccomp rejects system calls of the calling thread and of every process that it starts. It covers what
// Landlock does not: calls that affect other processes, the modes of files, and sockets.
package seccomp

import "syscall"

// Rule rejects one system call.
type Rule struct {
	Call uintptr
	// Unless allows the call if all arguments of one of its members match.
	Unless [][]Arg
	// Errno is returned to the caller. With zero the call has no effect and reports success.
	Errno syscall.Errno
}

// Arg matches the low 32 bits of an argument, which is what the kernel reads of a pid or a flag.
type Arg struct {
	Index int
	Mask  uint32 // zero means all bits
	Value uint32
	// Wide requires the high 32 bits to be zero as well, as those of a pointer.
	Wide bool
}
