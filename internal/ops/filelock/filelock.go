// Package filelock locks files between processes. The operating system releases a lock when its process ends, however
// it ends.
package filelock

import "os"

// TryLock locks a file exclusively and reports whether it succeeded; false without an error means that another open
// file holds the lock. The content stays readable for others. The lock ends with Unlock, or when the file is closed by
// every process that has it open.
func TryLock(f *os.File) (locked bool, err error) { return tryLock(f) }

// Unlock releases the lock, even while a child process has the file open.
func Unlock(f *os.File) error { return unlock(f) }
