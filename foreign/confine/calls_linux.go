package confine

import (
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/pdpp-go/pdpp/foreign/seccomp"
)

// calls returns the system calls that are rejected in a confined program, or have no effect. Landlock does not
// cover them: they affect other processes of the same user, or files that the program cannot open.
func (l Limits) calls() []seccomp.Rule {
	only := func(args ...seccomp.Arg) [][]seccomp.Arg { return [][]seccomp.Arg{args} }
	itself := only(seccomp.Arg{Index: 0})
	rules := []seccomp.Rule{
		{Call: unix.SYS_PRLIMIT64, Unless: itself, Errno: unix.EPERM},
		{Call: unix.SYS_SETPRIORITY, Unless: only(seccomp.Arg{Index: 0, Value: unix.PRIO_PROCESS}, seccomp.Arg{Index: 1}),
			Errno: unix.EPERM},
		{Call: unix.SYS_IOPRIO_SET, Unless: only(seccomp.Arg{Index: 0, Value: 1}, seccomp.Arg{Index: 1}), Errno: unix.EPERM},
		{Call: unix.SYS_SCHED_SETPARAM, Unless: itself, Errno: unix.EPERM},
		{Call: unix.SYS_SCHED_SETSCHEDULER, Unless: itself, Errno: unix.EPERM},
		{Call: unix.SYS_SCHED_SETATTR, Unless: itself, Errno: unix.EPERM},
		{Call: unix.SYS_SCHED_SETAFFINITY, Unless: itself, Errno: unix.EPERM},
		{Call: unix.SYS_MIGRATE_PAGES, Unless: itself, Errno: unix.EPERM},
		{Call: unix.SYS_MOVE_PAGES, Unless: itself, Errno: unix.EPERM},
		// A file by its descriptor, as futimens passes it: the path is empty.
		{Call: unix.SYS_UTIMENSAT, Unless: only(seccomp.Arg{Index: 1, Wide: true})},
		// A filter does not see requests through a ring.
		{Call: unix.SYS_IO_URING_SETUP, Errno: unix.ENOSYS},
	}
	// Changes of modes, owners and times by path have no effect and report success. Otherwise programs that copy
	// their own files, such as Python's shutil.copy, would fail. A filter cannot read the path.
	for _, call := range append(callsByPath, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWNAT) {
		rules = append(rules, seccomp.Rule{Call: call})
	}
	for _, call := range []uintptr{unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR,
		sysSetxattrat, sysRemovexattrat, sysFileSetattr,
		unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL} {
		rules = append(rules, seccomp.Rule{Call: call, Errno: syscall.EPERM})
	}
	if l.Offline {
		rules = append(rules, seccomp.Rule{Call: unix.SYS_SOCKET, Errno: unix.EACCES})
	}
	return rules
}

// Calls that the library has no names for, the same on every architecture.
const (
	sysSetxattrat    = 463
	sysRemovexattrat = 466
	sysFileSetattr   = 469
)
