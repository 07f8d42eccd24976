package foreign

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	landlock "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"pdpp/foreign/seccomp"
)

// networkVersion is the version of Landlock that can hold connections.
const networkVersion = 4

// enforceable reports whether this kernel can keep a program from connecting elsewhere.
func enforceable() bool {
	version, err := landlock.LandlockGetABIVersion()
	return err == nil && version >= networkVersion
}

// onlyStreams refuse every socket but one for TCP, which Landlock holds to a port: neither datagrams nor
// sockets with a path lead past the proxy. A pair of connected sockets leads nowhere else.
var onlyStreams = []seccomp.Rule{
	{Call: unix.SYS_SOCKET, Errno: unix.EACCES, Unless: [][]seccomp.Arg{
		{{Index: 0, Value: unix.AF_INET}, {Index: 1, Mask: 0xf, Value: unix.SOCK_STREAM}, {Index: 2}},
		{{Index: 0, Value: unix.AF_INET}, {Index: 1, Mask: 0xf, Value: unix.SOCK_STREAM}, {Index: 2, Value: unix.IPPROTO_TCP}},
		{{Index: 0, Value: unix.AF_INET6}, {Index: 1, Mask: 0xf, Value: unix.SOCK_STREAM}, {Index: 2}},
		{{Index: 0, Value: unix.AF_INET6}, {Index: 1, Mask: 0xf, Value: unix.SOCK_STREAM}, {Index: 2, Value: unix.IPPROTO_TCP}},
	}},
	{Call: unix.SYS_IO_URING_SETUP, Errno: unix.ENOSYS}, // what is sent through a ring is not seen here
}

// containerClients speak to a daemon through a socket with a path. What the daemon starts is held by nothing
// here.
var containerClients = []string{"docker", "podman", "nerdctl"}

// Confined makes this process one that can connect to a single TCP port, and then the program.
// It returns only when that fails.
func Confined(port uint16, argv []string) error {
	runtime.LockOSThread() // the limits are this thread's, and it becomes the program
	set, err := landlock.LandlockCreateRuleset(&landlock.RulesetAttr{HandledAccessNet: landlock.AccessNetConnectTCP}, 0)
	if err != nil {
		return fmt.Errorf("make limits: %w", err)
	}
	rule := landlock.NetPortAttr{AllowedAccess: landlock.AccessNetConnectTCP, Port: uint64(port)}
	if err := landlock.LandlockAddNetPortRule(set, &rule, 0); err != nil {
		return fmt.Errorf("give access to port %d: %w", port, err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up privileges: %w", err)
	}
	if err := landlock.LandlockRestrictSelf(set, 0); err != nil {
		return fmt.Errorf("take on limits: %w", err)
	}
	if err := unix.Close(set); err != nil {
		return fmt.Errorf("close limits: %w", err)
	}
	if !slices.Contains(containerClients, filepath.Base(argv[0])) {
		if err := seccomp.Install(onlyStreams); err != nil {
			return err
		}
	}
	if err := unix.Exec(argv[0], argv, os.Environ()); err != nil {
		return fmt.Errorf("start %s: %w", argv[0], err)
	}
	return nil
}
