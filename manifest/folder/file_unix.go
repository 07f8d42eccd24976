//go:build unix

package folder

import "syscall"

// noFollow opens without following a link and without waiting for the other end of a pipe.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
