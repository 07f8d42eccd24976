// Package seccomp refuses system calls to the calling thread, and to every process that it starts. It holds
// what Landlock does not know: calls that act on other processes, on the modes of files and on sockets.
package seccomp

import "syscall"

// Rule refuses one system call.
type Rule struct {
	Call uintptr
	// Unless lets the call through when all arguments of one of its members match.
	Unless [][]Arg
	// Errno is what the caller gets. With zero the call has no effect and reports success.
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
