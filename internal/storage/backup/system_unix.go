//go:build unix

package backup

import (
	"errors"
	"os"
	"syscall"
)

// lockWhole locks a file, or fails when another process holds the lock. The lock ends when the file is closed.
func lockWhole(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// outOfRoom reports whether the disk or the user's quota is full.
func outOfRoom(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
