//go:build !linux

package confine

import "time"

// Supported reports whether this machine can enforce limits. If not, reason explains it to the owner.
func Supported() (ok bool, reason string) { return false, "only Linux can" }

// Hide prevents other processes of the same user from reading the memory and environment of this one.
func Hide() error { return nil }

// Start calls start, without limits.
func (l Limits) Start(start func() error) error { return start() }

// Bound has no effect here: the parent ends a process that takes too long.
func Bound(memory int64, processor time.Duration) error { return nil }
