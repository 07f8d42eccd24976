package realserver

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

// TestMain plays a server with a child of its own, and the program that dies without stopping one.
func TestMain(m *testing.M) {
	switch os.Getenv("PDPP_TEST_PLAYS") {
	case "lone server":
		// As one that changes its user: the kernel does not signal its parent's death.
		_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_PDEATHSIG, 0, 0)
		_ = os.WriteFile("child", nil, 0o600)
		untilKilled()
	case "server":
		child := exec.Command(os.Args[0])
		child.Env = []string{"PDPP_TEST_PLAYS=child"}
		if err := child.Start(); err != nil {
			panic(err)
		}
		_ = os.WriteFile("child", []byte(strconv.Itoa(child.Process.Pid)), 0o600)
		untilKilled()
	case "child":
		untilKilled()
	case "starter":
		s, err := play(os.Getenv("PDPP_TEST_DIR"), "lone server")
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(os.Stdout, strconv.Itoa(s.Pid())+"\n")
		untilKilled()
	}
	os.Exit(m.Run())
}

// untilKilled blocks. A program that listens for a signal is never deadlocked to the runtime.
func untilKilled() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	select {}
}

func play(dir, part string) (*Server, error) {
	return StartServer(Command{Program: os.Args[0], Dir: dir, Env: []string{"PDPP_TEST_PLAYS=" + part},
		Ready: func(context.Context) error {
			_, err := os.Stat(filepath.Join(dir, "child"))
			return err
		}})
}

func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

func TestStopEndsTheWholeGroup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := play(dir, "server")
	if err != nil {
		t.Fatal(err)
	}
	if gone(s.Pid()) {
		t.Fatal("the server is not there")
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "child"))
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(string(text))
	if err != nil {
		t.Fatal(err)
	}
	untilEnded(t, child)
}

// untilEnded waits for the end of a process that is not the test's own child.
func untilEnded(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !zombie(pid); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("process %d is left", pid)
		}
	}
}

// zombie reports whether a process has ended, waited for or not.
func zombie(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || strings.Contains(string(stat), ") Z ")
}

func TestServerThatDoesNotBeginSaysWhy(t *testing.T) {
	t.Parallel()
	_, err := StartServer(Command{Program: "/bin/sh", Args: []string{"-c", "echo no such setting >&2; exit 3"},
		Ready: func(context.Context) error { return errors.New("no answer") }})
	if err == nil || !strings.Contains(err.Error(), "no such setting") {
		t.Errorf("error %v", err)
	}
}

// A test binary that is killed cannot stop anything.
func TestServerEndsWithItsStarter(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{"PDPP_TEST_PLAYS=starter", "PDPP_TEST_DIR=" + t.TempDir()}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || zombie(pid) {
		t.Fatalf("server %q: %v", line, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	untilEnded(t, pid) // the server does not outlive the program that started it
}

func TestSharedStartsOnce(t *testing.T) {
	t.Parallel()
	starts, stops := 0, 0
	var dir string
	s := Shared[int]{Start: func(d string) (int, func() error, error) {
		starts++
		dir = d
		return 7, func() error { stops++; return nil }, nil
	}}
	if first, second := s.Get(t), s.Get(t); first != 7 || second != 7 || starts != 1 {
		t.Errorf("started %d times", starts)
	}
	if err := s.Close(); err != nil || stops != 1 {
		t.Errorf("stopped %d times: %v", stops, err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("its folder is left: %v", err)
	}
}

func TestFrontPassesAndRefuses(t *testing.T) {
	t.Parallel()
	back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_,
			_ = io.WriteString(w, r.Method+" "+r.Host+r.URL.Path)
	}))
	defer back.Close()
	gate := providersim.NewGate(providersim.GateOptions{})
	url := StartFront(t, gate, back.URL, "/{user}/{calendar}/")
	ask := func(path string) (int, string, error) {
		req, err := http.NewRequestWithContext(t.Context(), "PROPFIND", url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0, "", err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		return resp.StatusCode, string(body), err
	}
	if code, body, err := ask("/mara/home/"); err != nil || code != 200 ||
		body != "PROPFIND "+strings.TrimPrefix(url, "http://")+"/mara/home/" {
		t.Errorf("passed: %d %q %v", code, body, err)
	}
	if n := gate.Stats().ByPattern["/{user}/{calendar}/"]; n != 1 {
		t.Errorf("counted %d", n)
	}
	if _, err := gate.Add(providersim.Fault{Kind: providersim.Unavailable, Path: "/mara",
		RetryAfter: providersim.RetrySeconds, Seconds: 9, Count: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := gate.Add(providersim.Fault{Kind: providersim.Reset, Path: "/reset"}); err != nil {
		t.Fatal(err)
	}
	if code, _, err := ask("/mara/home/"); err != nil || code != 503 {
		t.Errorf("refused: %d %v", code, err)
	}
	if _, body, err := ask("/reset/a/"); err == nil {
		t.Errorf("a reset gives %q", body)
	}
}

func TestIMAPFrontAnswersForTheServer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				in := bufio.NewReader(conn)
				for {
					line, err := in.ReadString('\n')
					if err != nil {
						return
					}
					tag, _, _ := strings.Cut(line, " ")
					_, _ = io.WriteString(conn, "* 1 FETCH (UID 1 BODY[] {10}\r\n0123456789)\r\n"+tag+" OK\r\n")
				}
			}()
		}
	}()
	for kind, want := range map[providersim.Kind]string{
		"":                           "* 1 FETCH (UID 1 BODY[] {10}\r\n0123456789)\r\na OK\r\n",
		providersim.Throttle:         "a NO [LIMIT] Too many commands. (Failure)\r\n",
		providersim.Unavailable:      "a NO [UNAVAILABLE] Temporarily out of order.\r\n",
		providersim.TruncatedJSON:    "* 1 FETCH (UID 1 BODY[] {10}\r\n01234",
		providersim.SelfCursor:       "* BYE Shutting down.\r\n",
		providersim.ExpiredToken:     "* BYE Session ended.\r\n",
		providersim.EmptyBody:        "a OK Done.\r\n",
		providersim.WrongContentType: "a BAD Unknown command.\r\n",
		providersim.SlowDrip:         "* 1 FETCH (UID 1 BODY[] {10}\r\n0123456789)\r\na OK\r\n",
	} {
		gate := providersim.NewGate(providersim.GateOptions{})
		if kind != "" {
			if _, err := gate.Add(providersim.Fault{Kind: kind, Path: "/body/", DelayMS: 1}); err != nil {
				t.Fatal(err)
			}
		}
		conn, err := net.Dial("tcp", StartIMAPFront(t, gate, l.Addr().String()))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, "a UID FETCH 1 (BODY.PEEK[])\r\n")
		got := make([]byte, len(want))
		if _, err := io.ReadFull(conn, got); err != nil || string(got) != want {
			t.Errorf("%s: %q %v, want %q", kind, got, err, want)
		}
		if ends := kind == providersim.TruncatedJSON || kind == providersim.SelfCursor ||
			kind == providersim.ExpiredToken; ends {
			if n, err := conn.Read(got); err == nil {
				t.Errorf("%s: goes on with %q", kind, got[:n])
			}
		}
		_ = conn.Close()
		if gate.Stats().ByPattern["/body/{set}"] != 1 {
			t.Errorf("%s: %v", kind, gate.Stats().ByPattern)
		}
	}
}
