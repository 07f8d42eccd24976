package connectorkit

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/protocol"
)

// child makes the test binary play a connector.
const child = "CONNECTORKIT_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(child) != "" {
		Main(childConnector())
	}
	os.Exit(m.Run())
}

// childConnector emits two megabytes in one page, far more than a pipe holds,
// and then fails or succeeds as it is instructed.
func childConnector() Connector {
	var list []Record
	for i := range 2000 {
		list = append(
			list,
			Upsert(row{ID: string(rune('a'+i%26)) + strings.Repeat("x", i%7), Text: strings.Repeat("\u2028", 300)}),
		)
	}
	return MustNew([]byte(testManifest), func(context.Context, *Setup) ([]Collector, error) {
		switch os.Getenv(child) {
		case "failed":
			return []Collector{pages("log", list), failing("notes", &Error{Class: Unavailable})}, nil
		case "waiting":
			return []Collector{pages("log", list[:1]), waiting("notes")}, nil
		}
		return []Collector{pages("log", list)}, nil
	})
}

// TestDoneIsWholeOnARealPipe reads a child's output only after the child has
// had to fill the pipe, and finds DONE complete at its end.
func TestDoneIsWholeOnARealPipe(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RT-09.1")
	for outcome, want := range map[string]int{"succeeded": 0, "failed": 1} {
		t.Run(outcome, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), child+"="+outcome)
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(
				stdin,
				strings.Replace(startLine, `{"name":"log"}`, `{"name":"log"},{"name":"notes"}`, 1),
			); err != nil {
				t.Fatal(err)
			}
			raw, err := io.ReadAll(stdout)
			if err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // the exit code is judged below
			if code := cmd.ProcessState.ExitCode(); code != want {
				t.Errorf("exit code %d, want %d", code, want)
			}
			if !bytes.HasSuffix(raw, []byte("\n")) {
				t.Fatal("the last line is not complete")
			}
			lines, dec := protocol.NewLineReader(bytes.NewReader(raw), 0), protocol.NewDecoder(protocol.FromConnector)
			var last protocol.Message
			for {
				line, err := lines.Next()
				if err == io.EOF {
					break
				}
				if last, err = dec.Decode(line); err != nil {
					t.Fatal(err)
				}
			}
			if done, ok := last.(*protocol.Done); !ok || string(done.Status) != outcome || done.RecordsEmitted < 2000 {
				t.Errorf("the last message is %+v", last)
			}
		})
	}
}

// TestSignalCancelsTheRun sends SIGTERM to a child in the middle of its run.
func TestSignalCancelsTheRun(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), child+"=waiting")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(
		stdin,
		strings.Replace(startLine, `{"name":"log"}`, `{"name":"log"},{"name":"notes"}`, 1),
	); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	var last string
	for lines.Scan() {
		if last = lines.Text(); strings.Contains(last, `"STATE"`) {
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // the exit code is judged below
	if code := cmd.ProcessState.ExitCode(); code != ExitFailed || !strings.Contains(last, `"status":"cancelled"`) {
		t.Errorf("exit code %d, last line %s", code, last)
	}
}

// drainLimit is what a finished connector may take at most when no one reads.
const drainLimit = 3 * time.Second

// TestExitDoesNotWaitForAReader starts a connector with a stdout that is a real pipe that
// no one reads, and one with output that is read: what the machine takes for a start is
// allowed on top of the limit, many times over.
func TestExitDoesNotWaitForAReader(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RT-09.2")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	read, _ := timedChild(t, nil)
	if took, code := timedChild(t, w); took > drainLimit+5*time.Second+5*read || code == 0 {
		t.Errorf("without a reader: exit code %d after %s, with one after %s", code, took, read)
	}
}

// timedChild lets a child collect into stdout and returns how long it lived after its
// input had ended; nil throws the output away.
func timedChild(t *testing.T, stdout *os.File) (took time.Duration, exitCode int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), child+"=succeeded")
	if stdout != nil {
		cmd.Stdout = stdout
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(stdin, startLine); err != nil {
		t.Fatal(err)
	}
	stdin.Close() // the consumer died
	began := time.Now()
	_ = cmd.Wait() // the exit code is judged by the caller
	return time.Since(began), cmd.ProcessState.ExitCode()
}

// stuck accepts nothing until it is released.
type stuck struct{ release chan struct{} }

func (s stuck) Write(b []byte) (int, error) {
	<-s.release
	return len(b), nil
}

// TestDrainIsBoundedExactly measures the bound after DONE in virtual time.
func TestDrainIsBoundedExactly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		in, feed := io.Pipe()
		out := stuck{make(chan struct{})}
		began := time.Now()
		exit := Run(context.Background(), collecting(t, pages("log", []Record{Upsert(row{ID: "a"})})), Process{
			Stdin: io.MultiReader(strings.NewReader(startLine), in), Stdout: out, Stderr: io.Discard,
			Env: func(string) string { return "" }, Now: time.Now,
		})
		if took := time.Since(began); exit == 0 || took != drainLimit {
			t.Errorf("exit code %d after %s", exit, took)
		}
		close(out.release)
		feed.Close()
	})
}

// TestBrokenStdoutEndsTheRun shows that a reader that went away is noticed.
func TestBrokenStdoutEndsTheRun(t *testing.T) {
	t.Parallel()
	in, feed := io.Pipe()
	defer feed.Close()
	out, reader := io.Pipe()
	out.Close()
	exit := Run(
		context.Background(),
		collecting(t, pages("log", []Record{Upsert(row{ID: "a"})}), waiting("notes")),
		Process{
			Stdin: io.MultiReader(
				strings.NewReader(strings.Replace(startLine, `{"name":"log"}`, `{"name":"log"},{"name":"notes"}`, 1)),
				in,
			),
			Stdout: reader,
			Stderr: io.Discard,
			Env:    func(string) string { return "" },
			Now:    time.Now,
		},
	)
	if exit != ExitProtocol {
		t.Errorf("exit code %d", exit)
	}
}
