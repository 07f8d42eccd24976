package confine

import "golang.org/x/sys/unix"

// callsByPath are the older calls that change a file by its path.
var callsByPath = []uintptr{unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES,
	unix.SYS_FUTIMESAT}
