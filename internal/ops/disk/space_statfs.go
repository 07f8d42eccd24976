//go:build linux || darwin || freebsd

package disk

import "syscall"

// Space is what a user without privileges may still write at the path, and how large its
// file system is.
func Space(path string) (free, total uint64, err error) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(path, &fs); err != nil {
		return 0, 0, err
	}
	if fs.Bavail > 0 { // can be negative on some systems
		free = uint64(fs.Bavail) * uint64(fs.Bsize)
	}
	return free, uint64(fs.Blocks) * uint64(fs.Bsize), nil
}
