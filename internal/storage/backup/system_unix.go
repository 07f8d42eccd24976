//go:build unix

package backup

import (
	"errors"
	"syscall"
)

// outOfRoom reports whether the disk or the user's quota is full.
func outOfRoom(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
