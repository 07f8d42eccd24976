package confine

import (
	"fmt"
	"runtime"
	"time"

	landlock "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"pdpp/foreign/seccomp"
)

// Supported reports whether this machine can hold programs to limits; if not, the reason is
// one for the owner.
func Supported() (ok bool, reason string) {
	version, err := landlock.LandlockGetABIVersion()
	if err != nil || version < 1 {
		return false, "the kernel has no Landlock (Linux 5.13 or newer, with landlock among its security modules)"
	}
	return true, ""
}

// Hide keeps other processes of the same user from reading the memory and the environment of
// this one.
func Hide() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("hide the memory of this process: %w", err)
	}
	return nil
}

// Bound ends this process when it takes more memory, or time of a processor, than so much. It
// leaves no dump of its memory behind.
func Bound(memory int64, processor time.Duration) error {
	for what, most := range map[int]uint64{unix.RLIMIT_DATA: uint64(memory), unix.RLIMIT_CPU: uint64(processor / time.Second), unix.RLIMIT_CORE: 0} {
		if err := unix.Setrlimit(what, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return fmt.Errorf("bound this process: %w", err)
		}
	}
	return nil
}

// Start calls start on a thread of its own that has the limits, so that the process which
// start begins has them from its first instruction. The thread ends with the call.
func (l Limits) Start(start func() error) error {
	version, err := landlock.LandlockGetABIVersion()
	held := err == nil && version >= 1
	if !held && !seccomp.Supported() {
		return start()
	}
	return onThread(func() error {
		if held {
			if err := l.apply(version); err != nil {
				return err
			}
		}
		if err := seccomp.Install(l.calls()); err != nil {
			return err
		}
		return start()
	})
}

// onThread calls f on a thread that ends with the call. It is never the first thread of the
// process: for the kernel that one is the process, and a process that shared the limits of its
// child would be open to it.
func onThread(f func() error) error {
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			result <- onThread(f) // while this goroutine holds the first thread, the other gets another
			runtime.UnlockOSThread()
			return
		}
		// Locked for good: a thread cannot get rid of its limits, so nobody else may use it.
		result <- f()
	}()
	return <-result
}

// Rights, by the version of Landlock that has them. What is not handled is not held.
const (
	execute = landlock.AccessFSExecute
	read    = landlock.AccessFSReadFile | landlock.AccessFSReadDir
	write   = landlock.AccessFSWriteFile | landlock.AccessFSTruncate | landlock.AccessFSIoctlDev | landlock.AccessFSRefer |
		landlock.AccessFSRemoveDir | landlock.AccessFSRemoveFile | landlock.AccessFSMakeDir | landlock.AccessFSMakeReg |
		landlock.AccessFSMakeSock | landlock.AccessFSMakeFifo | landlock.AccessFSMakeSym | landlock.AccessFSMakeChar | landlock.AccessFSMakeBlock
	onFiles = landlock.AccessFSExecute | landlock.AccessFSReadFile | landlock.AccessFSWriteFile | landlock.AccessFSTruncate | landlock.AccessFSIoctlDev
)

func handled(version int) landlock.RulesetAttr {
	a := landlock.RulesetAttr{HandledAccessFS: execute | read | write}
	if version < 2 {
		a.HandledAccessFS &^= landlock.AccessFSRefer
	}
	if version < 3 {
		a.HandledAccessFS &^= landlock.AccessFSTruncate
	}
	if version < 5 {
		a.HandledAccessFS &^= landlock.AccessFSIoctlDev
	}
	if version >= 6 {
		a.Scoped = landlock.ScopeSignal | landlock.ScopeAbstractUnixSocket
	}
	return a
}

// grant gives rights to paths, which must exist or may be left out.
type grant struct {
	paths  []string
	rights uint64
	must   bool
}

// apply puts the limits on the calling thread.
func (l Limits) apply(version int) error {
	rules := handled(version)
	if l.Offline && version >= 4 {
		rules.HandledAccessNet = landlock.AccessNetConnectTCP | landlock.AccessNetBindTCP
	}
	set, err := landlock.LandlockCreateRuleset(&rules, 0)
	if err != nil {
		return fmt.Errorf("make limits: %w", err)
	}
	defer func() { _ = unix.Close(set) }()
	grants := []grant{
		{[]string{l.Program}, execute | read, true},
		{l.Write, execute | read | write, true},
		{l.Execute, execute | read, false},
		{l.Read, read, false},
		{system, execute | read, false},
		{sinks, read | write, false},
	}
	if !readsKernelMemory() {
		grants = append(grants, grant{[]string{"/proc"}, read, false})
	}
	if l.Sandbox {
		grants = append(grants, grant{[]string{"/proc"}, read | landlock.AccessFSWriteFile, true})
	}
	for _, g := range grants {
		for _, path := range g.paths {
			if err := allow(set, path, g.rights&rules.HandledAccessFS); err != nil && g.must {
				return fmt.Errorf("give access to %s: %w", path, err)
			}
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up privileges: %w", err)
	}
	if err := landlock.LandlockRestrictSelf(set, 0); err != nil {
		return fmt.Errorf("take on limits: %w", err)
	}
	return nil
}

// readsKernelMemory reports whether this process, and with it a program that it starts, may read the memory
// of the kernel below /proc, as root may.
func readsKernelMemory() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var held [2]unix.CapUserData
	if err := unix.Capget(&header, &held[0]); err != nil {
		return true
	}
	return held[0].Effective&(1<<unix.CAP_SYS_RAWIO) != 0
}

// allow gives rights to a file, or to everything below a folder.
func allow(set int, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil {
		return err
	}
	if info.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= onFiles
	}
	return landlock.LandlockAddPathBeneathRule(set, &landlock.PathBeneathAttr{AllowedAccess: rights, ParentFd: fd}, 0)
}
