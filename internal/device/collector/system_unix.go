//go:build unix

package collector

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// lockFile locks a file if no other process holds the lock, and reports whether it succeeded.
func lockFile(f *os.File) (taken bool, err error) {
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// unlockFile releases the lock, even if other processes have the file open.
func unlockFile(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }

// freeSpace is the room that this user has on the disk of a folder.
func freeSpace(folder string) (int64, error) {
	var disk unix.Statfs_t
	if err := unix.Statfs(folder, &disk); err != nil {
		return 0, err
	}
	return int64(disk.Bavail) * int64(disk.Bsize), nil
}

// openToOthers reports whether others can read a file or, for a folder, change it.
func openToOthers(_ string, info os.FileInfo) bool {
	if info.IsDir() {
		return info.Mode().Perm()&0o022 != 0
	}
	return info.Mode().Perm()&0o077 != 0
}

// closeToOthers is the command that ends that.
func closeToOthers(path string, info os.FileInfo) string {
	if info.IsDir() {
		return "chmod 700 '" + path + "'"
	}
	return "chmod 600 '" + path + "'"
}
