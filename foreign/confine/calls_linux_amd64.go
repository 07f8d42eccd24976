package confine

import "golang.org/x/sys/unix"

// byPath are the older calls that change a file which they name by its path.
var byPath = []uintptr{unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES,
	unix.SYS_FUTIMESAT}
