package foreign

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	landlock "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"github.com/pdpp-go/pdpp/foreign/seccomp"
)

// networkVersion is the Landlock version that can restrict connections.
const networkVersion = 4

// holdsPorts reports whether this kernel can prevent a program from connecting to other ports.
func holdsPorts() bool {
	version, err := landlock.LandlockGetABIVersion()
	return err == nil && version >= networkVersion
}

// onlyStreams rejects every socket except TCP sockets, which a namespace or Landlock restricts. Datagrams and
// sockets with a path cannot bypass the proxy. Socket pairs are harmless.
var onlyStreams = []seccomp.Rule{
	{Call: unix.SYS_SOCKET, Errno: unix.EACCES, Unless: [][]seccomp.Arg{
		{{Index: 0, Value: unix.AF_INET}, {Index: 1, Mask: 0xf, Value: unix.SOCK_STREAM}, {Index: 2}},
		{{Index: 0, Value: unix.AF_INET}, {Index: 1, Mask: 0xf, Value: unix.SOCK_STREAM},
			{Index: 2, Value: unix.IPPROTO_TCP}},
		{{Index: 0, Value: unix.AF_INET6}, {Index: 1, Mask: 0xf, Value: unix.SOCK_STREAM}, {Index: 2}},
		{{Index: 0, Value: unix.AF_INET6}, {Index: 1, Mask: 0xf, Value: unix.SOCK_STREAM},
			{Index: 2, Value: unix.IPPROTO_TCP}},
	}},
	{Call: unix.SYS_IO_URING_SETUP, Errno: unix.ENOSYS}, // requests through a ring are not visible here
}

// containerClients use a daemon through a socket with a path. The programs that the daemon starts cannot be
// restricted here.
var containerClients = []string{"docker", "podman", "nerdctl"}

func isContainerClient(argv []string) bool {
	return len(argv) > 0 && slices.Contains(containerClients, filepath.Base(argv[0]))
}

// Confined is the launcher: it restricts this process to the proxy and then executes the program. The first
// argument is insideNamespace, or the proxy's port; without a program it only tests the namespace. With
// reportArgument it prints what this machine can enforce for a program. It returns only after a test, a report or
// an error.
func Confined(args []string) error {
	if len(args) > 0 && args[0] == reportArgument {
		return printEnforcement(args[1:])
	}
	if len(args) == 0 {
		return errors.New("no port")
	}
	runtime.LockOSThread() // the limits apply to this thread, which becomes the program
	argv := args[1:]
	if args[0] == insideNamespace {
		if err := serveNamespace(); err != nil || len(argv) == 0 {
			return err
		}
		if err := dropCapabilities(); err != nil {
			return err
		}
	} else if err := holdToPort(args[0]); err != nil {
		return err
	}
	if len(argv) == 0 {
		return errors.New("no program")
	}
	if !isContainerClient(argv) {
		if err := seccomp.Install(onlyStreams); err != nil {
			return err
		}
	}
	if err := unix.Exec(argv[0], argv, os.Environ()); err != nil {
		return fmt.Errorf("start %s: %w", argv[0], err)
	}
	return nil
}

// holdToPort prevents the calling thread from connecting to any other TCP port.
func holdToPort(port string) error {
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return fmt.Errorf("%q is not a port", port)
	}
	set, err := landlock.LandlockCreateRuleset(&landlock.RulesetAttr{HandledAccessNet: landlock.AccessNetConnectTCP}, 0)
	if err != nil {
		return fmt.Errorf("make limits: %w", err)
	}
	rule := landlock.NetPortAttr{AllowedAccess: landlock.AccessNetConnectTCP, Port: number}
	if err := landlock.LandlockAddNetPortRule(set, &rule, 0); err != nil {
		return fmt.Errorf("allow port %d: %w", number, err)
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
	return nil
}
