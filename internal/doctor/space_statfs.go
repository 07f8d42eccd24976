//go:build linux || darwin || freebsd

package doctor

import "syscall"

// freeSpace is what a user without privileges may still write at the path.
func freeSpace(path string) (bytes uint64, err error) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(path, &fs); err != nil {
		return 0, err
	}
	if fs.Bavail <= 0 { // can be negative on some systems
		return 0, nil
	}
	return uint64(fs.Bavail) * uint64(fs.Bsize), nil
}
