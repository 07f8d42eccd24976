package localfile

import (
	"io/fs"
	"syscall"
)

// statusChanged is when the file was created here, which a copy with old times is too.
func statusChanged(info fs.FileInfo) int64 {
	if d, ok := info.Sys().(*syscall.Win32FileAttributeData); ok {
		return d.CreationTime.Nanoseconds()
	}
	return 0
}
