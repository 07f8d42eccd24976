package confine

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// calling attempts a system call; unknown is false when it is none of those.
func calling(what, arg string) (err error, known bool) {
	n, _ := strconv.Atoi(arg)
	path, _ := unix.BytePtrFromString(arg)
	raw := func(number uintptr, args ...uintptr) error {
		args = append(args, make([]uintptr, 6-len(args))...)
		if _, _, errno := unix.RawSyscall6(number, args[0], args[1], args[2], args[3], args[4], args[5]); errno != 0 {
			return errno
		}
		return nil
	}
	switch what {
	case "prlimit": // the limit of open files stays as it is
		var was unix.Rlimit
		if err := unix.Prlimit(n, unix.RLIMIT_NOFILE, nil, &was); err != nil {
			return err, true
		}
		return unix.Prlimit(n, unix.RLIMIT_NOFILE, &was, nil), true
	case "nice":
		return unix.Setpriority(unix.PRIO_PROCESS, n, 1), true
	case "nice-group":
		return unix.Setpriority(unix.PRIO_PGRP, n, 1), true
	case "nice-user":
		return unix.Setpriority(unix.PRIO_USER, n, 1), true
	case "ioprio":
		return raw(unix.SYS_IOPRIO_SET, 1, uintptr(n), 0), true
	case "affinity":
		var all unix.CPUSet
		for i := range 64 {
			all.Set(i)
		}
		return unix.SchedSetaffinity(n, &all), true
	case "scheduler":
		var parameter [1]int32
		return raw(unix.SYS_SCHED_SETSCHEDULER, uintptr(n), 0, uintptr(unsafe.Pointer(&parameter))), true
	case "sched-attr":
		return unix.SchedSetAttr(n, &unix.SchedAttr{Size: unix.SizeofSchedAttr}, 0), true
	case "chmod":
		return unix.Chmod(arg, 0o644), true
	case "fchmodat2":
		return raw(unix.SYS_FCHMODAT2, ^uintptr(99), uintptr(unsafe.Pointer(path)), 0o644, 0), true
	case "chown":
		return unix.Lchown(arg, os.Getuid(), os.Getgid()), true
	case "utime":
		return unix.UtimesNano(arg, []unix.Timespec{{Sec: 1}, {Sec: 1}}), true
	case "setxattr":
		return unix.Setxattr(arg, "user.pdpp", []byte("x"), 0), true
	case "ring":
		var parameters [120]byte
		err := raw(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&parameters)))
		if err == unix.ENOSYS {
			err = os.ErrPermission
		}
		return err, true
	case "keys":
		_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true)
		return err, true
	case "descriptor": // modes and times of a file that it may open
		f, err := os.OpenFile(arg, os.O_RDWR, 0)
		if err != nil {
			return err, true
		}
		defer f.Close()
		if err := f.Chmod(0o640); err != nil {
			return err, true
		}
		return raw(unix.SYS_UTIMENSAT, f.Fd(), 0, 0, 0), true
	case "datagram":
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
		if err == nil {
			_ = unix.Close(fd)
		}
		return err, true
	}
	return nil, false
}

// A confined program changes neither other processes nor files that it cannot open, although the user may.
// Of itself, and of what it has opened, it may.
func TestRefusedCalls(t *testing.T) {
	dir := t.TempDir()
	key, mine, own := filepath.Join(dir, "secret.key"), filepath.Join(dir, "mine"), filepath.Join(dir, "mine", "state")
	if err := os.Mkdir(mine, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{key, own} {
		if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.Stat(key)
	if err != nil {
		t.Fatal(err)
	}
	me := strconv.Itoa(os.Getpid())
	want := map[string]string{"keys=": "refused", "ring=": "refused", "datagram=": "done", "descriptor=" + own: "done",
		"nice-user=0": "refused", "nice-group=0": "refused"}
	for _, call := range []string{"prlimit", "nice", "ioprio", "affinity", "scheduler", "sched-attr"} {
		want[call+"="+me], want[call+"=0"] = "refused", "done"
	}
	for _, file := range []string{key, dir, own} {
		want["setxattr="+file] = "refused"
		for _, call := range []string{"chmod", "fchmodat2", "chown", "utime"} {
			want[call+"="+file] = "done" // without effect
		}
	}
	attempts := make([]string, 0, len(want))
	for a := range want {
		attempts = append(attempts, a)
	}
	refused := 0
	for a, got := range confined(t, Limits{Write: []string{mine}}, attempts...) {
		if got != want[a] {
			t.Errorf("%s: %s, want %s", a, got, want[a])
		}
		if got == "refused" {
			refused++
		}
	}
	t.Logf("%d calls tried, %d refused", len(want), refused)
	if now, err := os.Stat(key); err != nil || now.Mode() != before.Mode() || !now.ModTime().Equal(before.ModTime()) {
		t.Errorf("the key is %v of %v: %v", now.Mode(), now.ModTime(), err)
	}
	if got := confined(t, Limits{Offline: true}, "datagram=")["datagram="]; got != "refused" {
		t.Errorf("a datagram socket of a program without network: %s", got)
	}
}

// A confined program of an ordinary user reads what /proc has of itself, which some runtimes cannot start
// without, and nothing that is private of another process.
func TestOwnProc(t *testing.T) {
	base := t.TempDir()
	if err := os.Chmod(filepath.Dir(base), 0o755); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(base, "program")
	from, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := os.OpenFile(program, os.O_CREATE|os.O_WRONLY, 0o755)
	if err == nil {
		_, err = io.Copy(to, from)
	}
	if err == nil {
		err = to.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	const parent = "PARENT"
	want := map[string]string{
		"read=/proc/self/maps": "done", "read=/proc/self/status": "done", "read=/proc/self/cgroup": "done",
		"list=/proc/self/fd":                "done",
		"read=/proc/" + parent + "/environ": "refused", "read=/proc/" + parent + "/mem": "refused", "read=/proc/" + parent +
			"/maps": "refused",
		"read=/proc/1/environ": "refused", "write=/proc/self/oom_score_adj": "refused",
	}
	attempts := make([]string, 0, len(want))
	for a := range want {
		attempts = append(attempts, a)
	}
	cmd := exec.Command(program, attempts...)
	cmd.Env = []string{roleVariable + "=launch", "GORACE=atexit_sleep_ms=0"}
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 12345, Gid: 12345, NoSetGroups: true}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got := map[string]string{}
	for line := range strings.Lines(string(out)) {
		arg, result, _ := strings.Cut(strings.TrimSpace(line), " ")
		got[arg] = result
	}
	for a, w := range want {
		if got[a] != w {
			t.Errorf("%s: %s, want %s", a, got[a], w)
		}
	}
}

// launchAll starts this program confined, as a server does, and answers with what it prints.
func launchAll() error {
	args := os.Args[1:]
	for i, a := range args {
		args[i] = strings.ReplaceAll(a, "PARENT", strconv.Itoa(os.Getpid()))
	}
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = []string{roleVariable + "=1", "GORACE=atexit_sleep_ms=0"}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := (Limits{Program: os.Args[0]}).Start(cmd.Start); err != nil {
		return err
	}
	text, err := io.ReadAll(out)
	if err != nil {
		return err
	}
	_, _ = os.Stdout.WriteString(strings.ReplaceAll(string(text), "/"+strconv.Itoa(os.Getpid())+"/", "/PARENT/"))
	return cmd.Wait()
}
