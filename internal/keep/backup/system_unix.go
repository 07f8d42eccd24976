//go:build unix

package backup

import (
	"errors"
	"os"
	"syscall"
)

// lockWhole takes the lock of a file, or fails when another has it. It ends with the file.
func lockWhole(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// outOfRoom reports whether the disk or what this user may use of it is full.
func outOfRoom(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
