package localfile

import (
	"io/fs"
	"syscall"
)

// statusChanged returns when the file's data or name last changed. Programs cannot set that time.
func statusChanged(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ctimespec.Nano()
	}
	return 0
}
