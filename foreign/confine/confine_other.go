//go:build !linux

package confine

import "time"

// Supported reports whether this machine can hold programs to limits; if not, the reason is
// one for the owner.
func Supported() (ok bool, reason string) { return false, "only Linux can" }

// Hide keeps other processes of the same user from reading the memory and the environment of
// this one.
func Hide() error { return nil }

// Start calls start, without limits.
func (l Limits) Start(start func() error) error { return start() }

// Bound bounds nothing: whoever starts a process ends it when it takes too long.
func Bound(memory int64, processor time.Duration) error { return nil }
