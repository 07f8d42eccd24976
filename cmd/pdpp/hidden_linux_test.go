package main

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// asOwner makes a command run as an ordinary user. Root reads everything, so tests that run as
// root need another one.
func asOwner(cmd *exec.Cmd) *exec.Cmd {
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	return cmd
}

// A process of the same user can read the environment and the memory of other processes, but not of a server: the
// password in its variables stays hidden.
func TestServerIsHiddenFromItsUser(t *testing.T) {
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	self, err := os.Executable()
	if err == nil {
		err = exec.Command("cp", self, filepath.Join(dir, "pdpp")).Run() // another user may not read where it lies
	}
	for _, path := range []string{dir, filepath.Dir(dir)} { // both are this test's own
		err = errors.Join(err, os.Chmod(path, 0o755))
	}
	if err == nil {
		err = os.Mkdir(home, 0o700)
	}
	if err == nil && os.Getuid() == 0 {
		err = os.Chown(home, 65534, 65534)
	}
	if err != nil {
		t.Fatal(err)
	}
	server := asOwner(exec.Command(filepath.Join(dir, "pdpp"), "serve", "--listen", "127.0.0.1:0", "--json", "--log-level",
		"error"))
	server.Env = []string{"PDPP_HOME=" + home, "PDPP_OWNER_PASSWORD=correct-horse-battery", "PATH=" + os.Getenv("PATH")}
	server.Dir, server.Stderr = "/", os.Stderr
	out, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
	}()
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.Contains(line, `"ready":true`) {
		t.Fatalf("the server said %q, %v", line, err)
	}
	other := asOwner(exec.Command("/bin/sh", "-c", "echo; read wait"))
	other.Env = []string{"PLAIN=correct-horse-battery"}
	hold, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	readCloser, err := other.StdoutPipe()
	if err == nil {
		err = other.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = hold.Close(); _ = other.Wait() }()
	if _, err := bufio.NewReader(readCloser).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	read := func(pid int, what string) (string, error) {
		b, err := asOwner(exec.Command("/bin/cat", "/proc/"+strconv.Itoa(pid)+"/"+what)).CombinedOutput()
		return string(b), err
	}
	if text, err := read(other.Process.Pid, "environ"); err != nil || !strings.Contains(text, "correct-horse-battery") {
		t.Fatalf("another process of the same user cannot be read, so that this test says nothing: %q, %v", text, err)
	}
	for _, what := range []string{"environ", "mem", "maps", "auxv"} {
		if text, err := read(server.Process.Pid, what); err == nil || !strings.Contains(text, "Permission denied") {
			t.Errorf("%s of the server: %d bytes, %v", what, len(text), err)
		}
	}
}
