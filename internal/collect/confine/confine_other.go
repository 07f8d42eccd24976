//go:build !linux

package confine

// Supported reports whether this machine can hold programs to limits; if not, the reason is
// one for the owner.
func Supported() (ok bool, reason string) { return false, "only Linux can" }

// Hide keeps other processes of the same user from reading the memory and the environment of
// this one.
func Hide() error { return nil }

// Start calls start, without limits.
func (l Limits) Start(start func() error) error { return start() }
