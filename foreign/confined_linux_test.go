package foreign_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pdpp-go/pdpp/foreign"
	"github.com/pdpp-go/pdpp/foreign/seccomp"
)

// waysOut are tried by a program that a proxy governs: one line for each, with its result.
const waysOut = `
import os, socket, sys, urllib.request
other, path = int(sys.argv[1]), sys.argv[2]
port = int(os.environ["HTTP_PROXY"].rsplit(":", 1)[1])
def tries(name, f):
    try:
        f(); print(name, "done", flush=True)
    except PermissionError: print(name, "refused", flush=True)
    except OSError as e: print(name, "unreached", e, flush=True)
def udp(family): s = socket.socket(family, socket.SOCK_DGRAM); s.sendto(b"x", ("::1" if family == socket.AF_INET6 else "127.0.0.1", other))
def unix(kind): s = socket.socket(socket.AF_UNIX, kind); s.connect(path)
def own(): l = socket.create_server(("127.0.0.1", 0)); socket.create_connection(l.getsockname())
def powerless():
    held = [l.split()[1] for l in open("/proc/self/status") if l.startswith(("CapPrm", "CapEff", "CapAmb"))]
    if any(int(h, 16) for h in held): raise PermissionError(held)
tries("proxy", lambda: socket.create_connection(("127.0.0.1", port)))
tries("pair", lambda: socket.socketpair())
tries("udp", lambda: udp(socket.AF_INET))
tries("udp6", lambda: udp(socket.AF_INET6))
tries("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
tries("path", lambda: unix(socket.SOCK_STREAM))
tries("path-datagram", lambda: unix(socket.SOCK_DGRAM))
tries("netlink", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))
tries("packet", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
tries("vsock", lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM, 0))
tries("sctp", lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132))
tries("port", lambda: socket.create_connection(("127.0.0.1", other)))
tries("host", lambda: socket.create_connection(("127.0.0.2", port)))
tries("own", own)
tries("parent", lambda: open("/proc/%d/mem" % os.getppid(), "rb"))
tries("powerless", powerless)
tries("name", lambda: urllib.request.urlopen("http://provider.invalid/"))
`

// playLimits plays what the tests of this file start.
func playLimits(args []string) error {
	if args[0] == "weaken" {
		return weaken(args[1], args[2:])
	}
	return escape(args[1:])
}

// escape plays the adapter: it launches the ways out, with another machine that listens at the proxy's port.
func escape(args []string) error {
	python, err := exec.LookPath("python3")
	if err != nil {
		return err
	}
	by, asked, err := foreign.Launch(append([]string{python, "-c", waysOut}, args...), func(env []string) {
		_, port, _ := strings.Cut(env[0], "127.0.0.1:")
		if number, _ := strconv.Atoi(port); number > 30000 { // in a namespace there is no other machine
			if _, err := net.Listen("tcp", "127.0.0.2:"+port); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}
	})
	fmt.Println("by", by.By)
	fmt.Println("asked", strings.Join(asked, ","))
	return err
}

// weaken makes this process one of a machine without namespaces, or without Landlock too, and then the program.
func weaken(what string, argv []string) error {
	runtime.LockOSThread() // the filter is that of a thread, and the same thread must start the program
	rules := []seccomp.Rule{
		{Call: unix.SYS_CLONE, Errno: unix.EPERM, Unless: [][]seccomp.Arg{{{Index: 0, Mask: unix.CLONE_NEWUSER}}}},
		{Call: unix.SYS_CLONE3, Errno: unix.ENOSYS},
	}
	if what == foreign.ByNothing {
		rules = append(rules, seccomp.Rule{Call: unix.SYS_LANDLOCK_CREATE_RULESET, Errno: unix.ENOSYS})
	}
	if err := seccomp.Install(rules); err != nil {
		return err
	}
	return unix.Exec(argv[0], argv, os.Environ())
}

// In a namespace the proxy is all that a program reaches, beside its own listeners. Without one it has no socket but
// for TCP and no port but the proxy's, at any host; without Landlock it is held by nothing. Each reports which it is.
func TestWaysPastTheProxy(t *testing.T) {
	const done, refused, unreached = "done", "refused", "unreached"
	held := map[string]string{"proxy": done, "pair": done, "parent": refused, "name": unreached,
		"asked": "provider.invalid"}
	for _, way := range []string{"udp", "udp6", "raw", "path", "path-datagram", "netlink", "packet", "vsock", "sctp"} {
		held[way] = refused
	}
	for by, more := range map[string]map[string]string{
		foreign.ByNamespace: {"port": unreached, "host": unreached, "own": done, "powerless": done},
		foreign.ByPort:      {"port": refused, "host": done, "own": refused, "powerless": ""},
		foreign.ByNothing:   nil,
	} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			want := map[string]string{"by": by, "proxy": done, "pair": done, "port": done, "host": done, "own": done,
				"name": unreached, "asked": "provider.invalid"}
			if by != foreign.ByNothing {
				want["by"] = by
				for _, some := range []map[string]string{held, more} {
					for way, result := range some {
						want[way] = result
					}
				}
			}
			other, path := neighbours(t)
			argv := []string{os.Args[0], "escape", other, path}
			report := []string{os.Args[0], foreign.ConfinedCommand, "report"}
			if by != foreign.ByNamespace {
				argv, report = append([]string{os.Args[0], "weaken", by}, argv...),
					append([]string{os.Args[0], "weaken", by}, report...)
			}
			got := map[string]string{}
			for line := range strings.Lines(play(t, argv)) {
				words := strings.Fields(line)
				got[words[0]] = strings.Join(words[1:min(2, len(words))], "")
			}
			for way, result := range want {
				if result != "" && got[way] != result {
					t.Errorf("%s: %q, want %q", way, got[way], result)
				}
			}
			var found foreign.Enforcement
			if err := json.Unmarshal([]byte(play(t, report)), &found); err != nil || found.By != by ||
				(found.Reason == "") != (by == foreign.ByNamespace) {
				t.Errorf("the report: %+v, %v", found, err)
			}
			if t.Failed() {
				t.Logf("%v", got)
			}
		})
	}
}

// neighbours are a port and a socket with a path that an outside process listens on.
func neighbours(t *testing.T) (port, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "socket")
	for network, address := range map[string]string{"tcp": "127.0.0.1:0", "unix": path} {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		if network == "tcp" {
			port = strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
		}
	}
	return port, path
}

func play(t *testing.T, argv []string) string {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// A program that is being wrapped has the limits of a run: no variable of the person who wraps it, no file that
// it does not declare, and no way but the proxy.
func TestWrapHasLimits(t *testing.T) {
	t.Setenv("WRAP_SECRET", "hush")
	dir := t.TempDir()
	diary, given, tap := filepath.Join(dir, "diary"), filepath.Join(dir, "given"), filepath.Join(dir, "tap.py")
	port, _ := neighbours(t)
	text := `
import os, socket, sys
def may(f):
    try: f()
    except OSError: return False
    return True
reached = [name for name, found in {
    "the environment": "WRAP_SECRET" in os.environ,
    "a file": may(lambda: open(` + strconv.Quote(diary) + `)),
    "a port": may(lambda: socket.create_connection(("127.0.0.1", ` + port + `))),
    "nothing of its own": not may(lambda: open(` + strconv.Quote(given) + `)),
}.items() if found]
if reached: sys.exit("reached " + ", ".join(reached))
print('{"streams":[` + tapEntry("pages") + `]}')
`
	for path, body := range map[string]string{diary: "private", given: "declared", tap: text} {
		if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a, err := foreign.Wrap(t.Context(),
		foreign.Order{Kind: foreign.Singer, Name: "ledger", Dir: filepath.Join(dir, "ledger"),
			Command: []string{"/usr/bin/python3", tap}, Paths: []string{given}})
	if err != nil || len(a.Streams) != 1 {
		t.Errorf("%v, %+v", err, a)
	}
}
