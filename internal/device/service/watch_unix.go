//go:build unix

package service

import (
	"os"

	"golang.org/x/sys/unix"
)

// looksIn looks at what a folder holds under a name, without the way to the folder.
func looksIn(dir *os.File, name string) (looks, error) {
	var stat unix.Stat_t
	if err := unix.Fstatat(int(dir.Fd()), name, &stat, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return looks{}, err
	}
	kind := stat.Mode & unix.S_IFMT
	return looks{stat.Size, stat.Mtim.Nano(), kind == unix.S_IFREG, kind == unix.S_IFDIR}, nil
}
