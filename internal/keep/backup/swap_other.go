//go:build !linux

package backup

import (
	"errors"
	"os"
	"syscall"
)

// swap puts the folder from in the place of to. Swapped says that to was there and is
// now where from was.
//
// These systems have no portable exchange. Killed between the second and the third
// rename, to is missing for the owner to name: both folders are whole, beside it.
func swap(from, to string) (swapped bool, err error) {
	err = os.Rename(from, to)
	if !errors.Is(err, syscall.ENOTEMPTY) && !errors.Is(err, syscall.EEXIST) {
		return false, err
	}
	parked := from + ".old"
	if err := os.Rename(to, parked); err != nil {
		return false, err
	}
	if err := os.Rename(from, to); err != nil {
		return false, errors.Join(err, os.Rename(parked, to))
	}
	return true, os.Rename(parked, from)
}
