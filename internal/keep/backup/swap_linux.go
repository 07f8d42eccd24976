package backup

import (
	"errors"

	"golang.org/x/sys/unix"
)

// swap puts the folder from in the place of to, in one step. Swapped says that to was
// there and is now where from was.
func swap(from, to string) (swapped bool, err error) {
	// An empty folder, or none, is simply replaced.
	err = unix.Rename(from, to)
	if !errors.Is(err, unix.ENOTEMPTY) && !errors.Is(err, unix.EEXIST) {
		return false, err
	}
	return true, unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_EXCHANGE)
}
