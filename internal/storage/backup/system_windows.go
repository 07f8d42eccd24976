package backup

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockWhole locks a file, or fails when another process holds the lock. The lock ends when the file is closed.
func lockWhole(f *os.File) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0,
		1, 0, &windows.Overlapped{})
}

// outOfRoom reports whether the disk or the user's quota is full.
func outOfRoom(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) ||
		errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}
