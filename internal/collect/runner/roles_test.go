package runner

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/pdpp-go/pdpp/internal/collect/childprocess"
)

// The test binary plays the connector: a role named in this variable replaces
// the tests.
const roleVariable = "RUNNER_TEST_ROLE"

func TestMain(m *testing.M) {
	if play := roles[os.Getenv(roleVariable)]; play != nil {
		play()
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// stdin of a role; every role but the ones that are about it reads START first.
var stdin = bufio.NewReader(os.Stdin)

func hearStart() { _, _ = stdin.ReadString('\n') }

func say(lines ...string) {
	_, _ = os.Stdout.WriteString(strings.Join(lines, "\n") + "\n")
}

// finish sends DONE, waits for stdin to be closed, and exits.
func finish(records int) {
	say(doneLine("succeeded", records))
	if rest, err := io.ReadAll(stdin); err != nil || len(rest) > 0 {
		os.Exit(17) // stdin was not simply closed
	}
	os.Exit(0)
}

// forever stays until it is ended.
func forever() {
	never := make(chan os.Signal, 1)
	signal.Notify(never, syscall.SIGUSR1)
	<-never
}

// held keeps the FIFO open that a test watches: it closes when this process ends.
var held *os.File

func hold() {
	var err error
	if held, err = os.OpenFile(os.Getenv("HOLD"), os.O_WRONLY, 0); err != nil {
		os.Exit(18)
	}
}

// await blocks until the test closes its end of the FIFO.
func await() {
	if _, err := os.ReadFile(os.Getenv("AWAIT")); err != nil {
		os.Exit(19)
	}
}

// descend starts this program again in another role, with the same pipes, and
// returns once the descendant has called ready.
func descend(role string, attr *syscall.SysProcAttr) {
	r, w, err := os.Pipe()
	if err != nil {
		os.Exit(20)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.ExtraFiles = []*os.File{w}
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = os.Stdin, os.Stdout, os.Stderr, attr
	if err := cmd.Start(); err != nil {
		os.Exit(20)
	}
	_, _ = r.Read(make([]byte, 1))
}

func ready() { _, _ = os.NewFile(3, "ready").Write([]byte("!")) }

var roles = map[string]func(){
	"plain": func() {
		hearStart()
		say(rec("notes", "1"), state("notes", 1))
		finish(1)
	},
	"introduces itself": func() {
		hearStart()
		dir, _ := os.Getwd()
		entries, _ := os.ReadDir(".")
		group, _ := syscall.Getpgid(0)
		say(fmt.Sprintf(`{"type":"RECORD","stream":"notes","key":"1","emitted_at":"2026-01-02","data":{"id":"1","dir":%q,`+
			`"entries":%d,"leads":%v,"env":%q}}`,
			dir, len(entries), group == os.Getpid(), strings.Join(os.Environ(), "\n")))
		finish(1)
	},
	"uses what it inherits": func() {
		hearStart()
		shared := os.NewFile(3, "shared")
		heard := make([]byte, 64)
		n, _ := shared.Read(heard)
		dir, _ := os.Getwd()
		written := os.WriteFile("mine", nil, 0o600) == nil
		say(fmt.Sprintf(`{"type":"RECORD","stream":"notes","key":"1","emitted_at":"2026-01-02","data":{"id":"1","dir":%q,`+
			`"uid":%d,"gid":%d,"heard":%q,"written":%v,"temp":%q}}`,
			dir, os.Getuid(), os.Getgid(), heard[:n], written, os.TempDir()))
		_, _ = shared.WriteString("and back")
		finish(1)
	},
	"litters": func() {
		hearStart()
		_ = os.MkdirAll("deep/er", 0o755)
		_ = os.WriteFile("deep/er/file", []byte("x"), 0o400)
		_ = os.Chmod("deep/er", 0o500)
		_ = os.Chmod("deep", 0)
		finish(0)
	},
	"ignores SIGTERM": func() {
		signal.Ignore(syscall.SIGTERM)
		hearStart()
		say(`{"type":"PROGRESS","message":"ready"}`)
		forever()
	},
	"obeys SIGTERM": func() {
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM)
		hearStart()
		say(`{"type":"PROGRESS","message":"ready"}`, rec("notes", "1"))
		<-signals
		say(state("notes", 1), doneLine("cancelled", 1))
		os.Exit(1)
	},
	"floods stdout": func() {
		hearStart()
		out := bufio.NewWriter(os.Stdout)
		for i := range floodRecords {
			fmt.Fprintln(out, rec("notes", fmt.Sprint(i), `"body":"`+strings.Repeat("x", 1000)+`"`))
		}
		_ = out.Flush()
		finish(floodRecords)
	},
	"floods with tombstones": func() {
		hearStart()
		out := bufio.NewWriter(os.Stdout)
		for i := range floodRecords {
			fmt.Fprintln(out, tombstone("notes", fmt.Sprint(i)))
		}
		_ = out.Flush()
		finish(floodRecords)
	},
	"floods with gaps": func() {
		hearStart()
		out := bufio.NewWriter(os.Stdout)
		for i := range floodRecords {
			fmt.Fprintln(out, gapOf("notes", "", fmt.Sprint(i)))
		}
		_ = out.Flush()
		finish(0)
	},
	"floods stderr": func() {
		hearStart()
		junk := bytes.Repeat([]byte("noise "), 10_000)
		for range 300 {
			_, _ = os.Stderr.Write(junk)
		}
		_, _ = os.Stderr.WriteString("\nlast words: " + os.Getenv("SAMPLE_TOKEN") + "\n")
		finish(0)
	},
	"replays a transcript": replayTranscript,

	"hangs":         func() { hearStart(); forever() },
	"exits":         func() { hearStart(); say(rec("notes", "1"), state("notes", 1), rec("notes", "2")); os.Exit(3) },
	"exits quietly": func() { hearStart() },
	"kills itself": func() {
		hearStart()
		say(rec("notes", "1"), state("notes", 1), rec("notes", "2"))
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		forever()
	},
	"writes garbage":     func() { hearStart(); say("\x00\xff{{{"); forever() },
	"writes a long line": func() { hearStart(); say(strings.Repeat("x", 17<<20)); forever() },
	"tears its DONE": func() {
		hearStart()
		_, _ = os.Stdout.WriteString(doneLine("succeeded", 0)[:20])
	},
	"leaves out the last LF": func() {
		hearStart()
		_, _ = os.Stdout.WriteString(doneLine("succeeded", 0))
	},
	"reads nothing": func() {},
	"closes stdin": func() {
		hearStart()
		_ = os.Stdin.Close()
		say(`{"type":"DETAIL_GAPS_PAGE_REQUEST","request_id":"p"}`)
	},
	"closes stdout": func() {
		hearStart()
		_ = os.Stdout.Close()
		forever()
	},
	"is gone before it is read": func() {
		hearStart()
		hold()
		say(rec("notes", "1"), state("notes", 1), rec("notes", "2"), state("notes", 2), rec("notes", "3"))
		await()
		lines := []string{}
		for i := range 400 {
			lines = append(lines, rec("notes", fmt.Sprint(i)))
		}
		say(append(lines, doneLine("succeeded", 403))...)
	},
	"leaves a child": func() {
		hearStart()
		descend("is left behind", nil)
		finishAtOnce()
	},
	"lets a child escape": func() {
		hearStart()
		descend("is left behind", &syscall.SysProcAttr{Setsid: true})
		finishAtOnce()
	},
	"lets a talker escape": func() {
		hearStart()
		descend("talks on", &syscall.SysProcAttr{Setsid: true})
	},
	"is left behind": func() { signal.Ignore(syscall.SIGTERM); hold(); ready(); await() },
	"talks on": func() {
		signal.Ignore(syscall.SIGPIPE)
		hold()
		ready()
		line := `{"type":"PROGRESS","message":"` + strings.Repeat("again ", 2000) + `"}` + "\n"
		for {
			if _, err := os.Stdout.WriteString(line); err != nil {
				return
			}
		}
	},
}

func finishAtOnce() { say(doneLine("succeeded", 0)); os.Exit(0) }

const floodRecords = 10_000

// self is this program, to be started in a role.
func self(role string, env ...string) childprocess.Command {
	path, err := filepath.Abs(os.Args[0])
	if err != nil {
		panic(err)
	}
	// Under the race detector a process waits a second before it exits otherwise.
	return childprocess.Command{Path: path, Env: append([]string{roleVariable + "=" + role, "GORACE=atexit_sleep_ms=0"},
		env...)}
}
