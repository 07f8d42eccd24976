//go:build !linux

package backup

import (
	"errors"
	"os"
	"syscall"
)

// swap replaces the folder to by from. Swapped reports that to existed and is now at from.
//
// These systems have no portable exchange. If the process is killed between the second and third rename, to is
// missing: both folders are complete next to it, for the owner to rename.
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
