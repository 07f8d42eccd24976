package devicetest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// disk is a small one of its own, in memory, that can be filled.
type disk struct {
	t    *testing.T
	path string
}

// mountDisk puts an empty disk at a folder; nil where this user may not.
func mountDisk(t *testing.T, path string, size string) *disk {
	t.Helper()
	err := os.MkdirAll(path, 0o700)
	if err == nil {
		err = unix.Mount("tmpfs", path, "tmpfs", 0, "size="+size+",mode=0700")
	}
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		t.Logf("no disk can be filled here: %v", err)
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(path, unix.MNT_DETACH) })
	return &disk{t, path}
}

// fill leaves so many bytes free.
func (d *disk) fill(leave int64) {
	d.t.Helper()
	var at unix.Statfs_t
	err := unix.Statfs(d.path, &at)
	var f *os.File
	if err == nil {
		f, err = os.Create(filepath.Join(d.path, "ballast"))
	}
	if size := int64(at.Bavail)*at.Bsize - leave; err == nil && size > 0 {
		err = unix.Fallocate(int(f.Fd()), 0, 0, size)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *disk) empty() {
	d.t.Helper()
	if err := os.Remove(filepath.Join(d.path, "ballast")); err != nil {
		d.t.Fatal(err)
	}
}
