package backup

import (
	"errors"

	"golang.org/x/sys/windows"
)

// outOfRoom reports whether the disk or the user's quota is full.
func outOfRoom(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) ||
		errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}
