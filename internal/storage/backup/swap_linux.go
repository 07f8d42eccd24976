package backup

import (
	"errors"

	"golang.org/x/sys/unix"
)

// swap exchanges the folder from with to in one step. Swapped reports that to existed and is now at from.
func swap(from, to string) (swapped bool, err error) {
	// An empty or missing folder is simply replaced.
	err = unix.Rename(from, to)
	if !errors.Is(err, unix.ENOTEMPTY) && !errors.Is(err, unix.EEXIST) {
		return false, err
	}
	return true, unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_EXCHANGE)
}
