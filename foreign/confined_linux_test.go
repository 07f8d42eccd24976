package foreign_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pdpp/foreign"
)

// ways out, tried by a program that a proxy governs: one line for each, with what came of it.
const waysOut = `
import socket, sys
port, other, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
def tries(name, f):
    try:
        f(); print(name, "done")
    except PermissionError: print(name, "refused")
    except OSError as e: print(name, e)
def udp(family): s = socket.socket(family, socket.SOCK_DGRAM); s.sendto(b"x", ("::1" if family == socket.AF_INET6 else "127.0.0.1", other))
def unix(kind): s = socket.socket(socket.AF_UNIX, kind); s.connect(path)
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
`

// A program that the proxy governs has no socket but one for TCP, and no port but the proxy's.
func TestWaysPastTheProxy(t *testing.T) {
	listen := func(network, address string) net.Listener {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		return l
	}
	path := filepath.Join(t.TempDir(), "socket")
	proxy, other := listen("tcp", "127.0.0.1:0"), listen("tcp", "127.0.0.1:0")
	listen("unix", path)
	number := func(l net.Listener) string { return strconv.Itoa(l.Addr().(*net.TCPAddr).Port) }
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], foreign.ConfinedCommand, number(proxy), python, "-c", waysOut, number(proxy), number(other), path)
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := map[string]string{"proxy": "done", "pair": "done"}
	for _, way := range []string{"udp", "udp6", "raw", "path", "path-datagram", "netlink", "packet", "vsock", "sctp", "port"} {
		want[way] = "refused"
	}
	seen := 0
	for line := range strings.Lines(string(out)) {
		way, got, _ := strings.Cut(strings.TrimSpace(line), " ")
		if seen++; got != want[way] {
			t.Errorf("%s: %s, want %s", way, got, want[way])
		}
	}
	if seen != len(want) {
		t.Errorf("%d of %d ways were tried:\n%s", seen, len(want), out)
	}
}
