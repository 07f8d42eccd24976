package backup

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockWhole takes the lock of a file, or fails when another has it. It ends with the file.
func lockWhole(f *os.File) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{})
}

// outOfRoom reports whether the disk or what this user may use of it is full.
func outOfRoom(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) || errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}
