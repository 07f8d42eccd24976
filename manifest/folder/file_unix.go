//go:build unix

package folder

import "syscall"

// noFollowFlags opens without following a link and without waiting for the other end of a pipe.
const noFollowFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
