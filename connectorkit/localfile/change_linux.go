package localfile

import (
	"io/fs"
	"syscall"
)

// statusChanged is when the file's data or name last changed, which nobody can set.
func statusChanged(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ctim.Nano()
	}
	return 0
}
