package browser

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/protocol"
)

// seenProcess is a process of a browser, from /proc.
type seenProcess struct {
	pid, group  int
	command     string
	environment string
	sockets     []string // inodes
}

// processesOf lists the processes that name the room in their command or their environment.
// The dead that wait to be collected are none.
func processesOf(t testing.TB, b protocol.BrowserBinding) []seenProcess {
	t.Helper()
	dir := filepath.Dir(b.Home)
	entries, err := os.ReadDir("/proc")
	must(t, err)
	var found []seenProcess
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		at := func(name string) string {
			text, _ := os.ReadFile(filepath.Join("/proc", e.Name(), name)) // it may be gone
			return string(text)
		}
		p := seenProcess{pid: pid, command: at("cmdline"), environment: at("environ")}
		if !strings.Contains(p.command, dir) && !strings.Contains(p.environment, dir) {
			continue
		}
		stat := at("stat")
		fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
		if len(fields) < 3 || fields[0] == "Z" {
			continue
		}
		p.group, _ = strconv.Atoi(fields[2])
		links, _ := os.ReadDir(filepath.Join("/proc", e.Name(), "fd"))
		for _, l := range links {
			to, _ := os.Readlink(filepath.Join("/proc", e.Name(), "fd", l.Name()))
			if inode, ok := strings.CutPrefix(to, "socket:["); ok {
				p.sockets = append(p.sockets, strings.TrimSuffix(inode, "]"))
			}
		}
		found = append(found, p)
	}
	return found
}

// listeners returns the sockets that accept connections from the network.
func listeners(t testing.TB) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, name := range []string{"tcp", "tcp6"} {
		text, err := os.ReadFile("/proc/net/" + name)
		must(t, err)
		for _, line := range strings.Split(string(text), "\n") {
			if f := strings.Fields(line); len(f) > 9 && f[3] == "0A" {
				out[f[9]] = true
			}
		}
	}
	if len(out) == 0 {
		t.Fatal("nobody listens, not even the site of this test")
	}
	return out
}
