package confine

import (
	"fmt"
	"runtime"
	"time"

	landlock "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"github.com/pdpp-go/pdpp/foreign/seccomp"
)

// Supported reports whether this machine can enforce limits. If not, reason explains it to the owner.
func Supported() (ok bool, reason string) {
	version, err := landlock.LandlockGetABIVersion()
	if err != nil || version < 1 {
		return false, "the kernel has no Landlock (Linux 5.13 or newer, with landlock among its security modules)"
	}
	return true, ""
}

// Hide prevents other processes of the same user from reading the memory and environment of this one.
func Hide() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("hide the memory of this process: %w", err)
	}
	return nil
}

// Bound limits the memory and processor time of this process, which ends when it exceeds them. It leaves no
// memory dump.
func Bound(memory int64, processor time.Duration) error {
	for what, most := range map[int]uint64{unix.RLIMIT_DATA: uint64(memory),
		unix.RLIMIT_CPU: uint64(processor / time.Second), unix.RLIMIT_CORE: 0} {
		if err := unix.Setrlimit(what, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return fmt.Errorf("bound this process: %w", err)
		}
	}
	return nil
}

// Start calls start on its own thread with the limits, so that the process that start creates has them from its
// first instruction. The thread ends with the call.
func (l Limits) Start(start func() error) error {
	version, err := landlock.LandlockGetABIVersion()
	held := err == nil && version >= 1
	if !held && !seccomp.Supported() {
		return start()
	}
	return runOnThread(func() error {
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

// runOnThread calls f on a thread that ends with the call. It never uses the first thread of the process, which
// represents the process for the kernel: a process with the limits of its child would be accessible to the child.
func runOnThread(f func() error) error {
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			result <- runOnThread(f) // this goroutine holds the first thread, so the new one gets another
			runtime.UnlockOSThread()
			return
		}
		// Locked permanently: a thread cannot remove its limits, so no other goroutine may use it.
		result <- f()
	}()
	return <-result
}

// Rights by the Landlock version that has them. Rights that are not handled are not enforced.
const (
	rightsExecute = landlock.AccessFSExecute
	rightsRead    = landlock.AccessFSReadFile | landlock.AccessFSReadDir
	rightsWrite   = landlock.AccessFSWriteFile | landlock.AccessFSTruncate | landlock.AccessFSIoctlDev |
		landlock.AccessFSRefer |
		landlock.AccessFSRemoveDir | landlock.AccessFSRemoveFile | landlock.AccessFSMakeDir | landlock.AccessFSMakeReg |
		landlock.AccessFSMakeSock | landlock.AccessFSMakeFifo | landlock.AccessFSMakeSym |
		landlock.AccessFSMakeChar | landlock.AccessFSMakeBlock
	rightsOnFiles = landlock.AccessFSExecute | landlock.AccessFSReadFile | landlock.AccessFSWriteFile |
		landlock.AccessFSTruncate | landlock.AccessFSIoctlDev
)

func rightsHandled(version int) landlock.RulesetAttr {
	a := landlock.RulesetAttr{HandledAccessFS: rightsExecute | rightsRead | rightsWrite}
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

// pathGrant assigns rights to paths, which must exist or may be ignored.
type pathGrant struct {
	paths  []string
	rights uint64
	must   bool
}

// apply sets the limits on the calling thread.
func (l Limits) apply(version int) error {
	rules := rightsHandled(version)
	if l.Offline && version >= 4 {
		rules.HandledAccessNet = landlock.AccessNetConnectTCP | landlock.AccessNetBindTCP
	}
	set, err := landlock.LandlockCreateRuleset(&rules, 0)
	if err != nil {
		return fmt.Errorf("make limits: %w", err)
	}
	defer func() { _ = unix.Close(set) }()
	grants := []pathGrant{
		{[]string{l.Program}, rightsExecute | rightsRead, true},
		{l.Write, rightsExecute | rightsRead | rightsWrite, true},
		{l.Execute, rightsExecute | rightsRead, false},
		{l.Read, rightsRead, false},
		{systemFiles, rightsExecute | rightsRead, false},
		{writableDevices, rightsRead | rightsWrite, false},
	}
	if !readsKernelMemory() {
		grants = append(grants, pathGrant{[]string{"/proc"}, rightsRead, false})
	}
	if l.Sandbox {
		grants = append(grants, pathGrant{[]string{"/proc"}, rightsRead | landlock.AccessFSWriteFile, true})
	}
	for _, g := range grants {
		for _, path := range g.paths {
			if err := allowPath(set, path, g.rights&rules.HandledAccessFS); err != nil && g.must {
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

// readsKernelMemory reports whether this process, and a program that it starts, may read kernel memory below
// /proc, as root may.
func readsKernelMemory() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var held [2]unix.CapUserData
	if err := unix.Capget(&header, &held[0]); err != nil {
		return true
	}
	return held[0].Effective&(1<<unix.CAP_SYS_RAWIO) != 0
}

// allowPath grants rights to a file, or to everything below a folder.
func allowPath(set int, path string, rights uint64) error {
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
		rights &= rightsOnFiles
	}
	return landlock.LandlockAddPathBeneathRule(set, &landlock.PathBeneathAttr{AllowedAccess: rights, ParentFd: fd}, 0)
}
