package runner

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"go.uber.org/goleak"

	"github.com/pdpp-go/pdpp/internal/collect/childprocess"
)

// act runs this program in a role, as a real child, and checks that nothing of
// it is left: no process, no goroutine, no directory.
func act(t *testing.T, d *dialogue, ctx context.Context, role string, env ...string) Outcome {
	t.Helper()
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	c := self(role, env...)
	c.Secrets = d.spec.Command.Secrets
	d.spec.Command = c
	o := Run(ctx, d.spec, d, d, d.asker, d.opts)
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind in the temporary directory: %v, %v", left, err)
	}
	if mine := children(t); len(mine) > 0 {
		t.Errorf("child processes are left: %v", mine)
	}
	goleak.VerifyNone(t)
	return o
}

// children lists the child processes of this one, zombies included.
func children(t *testing.T) []string {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		t.Errorf("cannot see processes: %v", err)
	}
	var out []string
	for _, path := range stats {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // it is gone
		}
		_, rest, _ := bytes.Cut(b, []byte(") ")) // state, parent, ...
		if f := strings.Fields(string(rest)); len(f) > 1 && f[1] == fmt.Sprint(os.Getpid()) {
			out = append(out, string(b))
		}
	}
	return out
}

// fifo makes a named pipe.
func fifo(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// ended returns a channel that closes once a process has held the FIFO and is gone.
func ended(path string) <-chan struct{} {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		if f, err := os.Open(path); err == nil {
			_, _ = io.Copy(io.Discard, f)
			_ = f.Close()
		}
	}()
	return gone
}

// release lets the process go on that awaits the FIFO.
func release(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Error(err)
	}
	_ = f.Close()
}

func TestChildIsAStranger(t *testing.T) {
	t.Setenv("PDPP_OWNER_PASSWORD", "not for the child")
	d := newDialogue(t, "notes")
	mustSucceed(t, act(t, d, t.Context(), "introduces itself", "SAMPLE_TOKEN=t0ken", "EMPTY="))
	var child struct {
		Dir     string `json:"dir"`
		Entries int    `json:"entries"`
		Leads   bool   `json:"leads"`
		Env     string `json:"env"`
	}
	if err := json.Unmarshal(d.slices[0].Records[0].Data, &child); err != nil {
		t.Fatal(err)
	}
	if child.Entries != 0 || !strings.HasPrefix(filepath.Base(child.Dir), "pdpp-run-") {
		t.Errorf("working directory %s has %d entries", child.Dir, child.Entries)
	}
	if _, err := os.Stat(child.Dir); !os.IsNotExist(err) {
		t.Errorf("working directory is still there: %v", err)
	}
	if !child.Leads {
		t.Error("the child does not lead its own process group")
	}
	env := strings.Split(child.Env, "\n")
	slices.Sort(env)
	want := []string{"EMPTY=", "GORACE=atexit_sleep_ms=0", "HOME=" + child.Dir, roleVariable + "=introduces itself",
		"SAMPLE_TOKEN=t0ken", "TMPDIR=" + child.Dir}
	slices.Sort(want)
	if !slices.Equal(env, want) {
		t.Errorf("environment = %q, want exactly %q", env, want)
	}
}

// A child gets its inherited files and a working directory that stays. Under root it runs as another user, who has no
// access to the program's folder.
func TestChildInherits(t *testing.T) {
	room, err := os.MkdirTemp("", "pdpp-inherits-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(room) })
	uid, gid := os.Getuid(), os.Getgid()
	var user *childprocess.User
	if uid == 0 {
		uid, gid = 65534, 65534
		user = &childprocess.User{UID: 65534, GID: 65534}
	}
	if err := os.Chown(room, uid, gid); err != nil {
		t.Fatal(err)
	}
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(ends[0]), "ours"), os.NewFile(uintptr(ends[1]), "theirs")
	defer ours.Close()
	if _, err := ours.WriteString("hello"); err != nil {
		t.Fatal(err)
	}
	d := newDialogue(t, "notes")
	d.spec.Command = self("uses what it inherits")
	d.spec.Command.Dir, d.spec.Command.Files, d.spec.Command.User = room, []*os.File{theirs}, user
	mustSucceed(t, Run(t.Context(), d.spec, d, d, d.asker, d.opts))
	var child struct {
		Dir, Heard, Temp string
		UID, GID         int
		Written          bool
	}
	if err := json.Unmarshal(d.slices[0].Records[0].Data, &child, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	if child.Dir != room || child.Temp != room || child.Heard != "hello" || child.UID != uid || child.GID != gid ||
		!child.Written {
		t.Errorf("the child found %+v", child)
	}
	back, err := io.ReadAll(ours) // ends, because no other process has the other end
	if err != nil || string(back) != "and back" {
		t.Errorf("it answered %q, %v", back, err)
	}
	if left, err := os.ReadDir(room); err != nil || len(left) != 1 {
		t.Errorf("the working directory has %v, %v", left, err)
	}
}

// Files are closed when nothing is started, too.
func TestFilesAreClosedWithoutAChild(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	d := newDialogue(t, "notes")
	d.spec.Command = childprocess.Command{Refusal: os.ErrPermission, Files: []*os.File{w}}
	mustFail(t, Run(t.Context(), d.spec, d, d, nil, Options{}), ReasonSpawnFailed)
	if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 {
		t.Errorf("read %q, %v", rest, err)
	}
	_ = r.Close()
}

func TestStdinIsClosedAfterDone(t *testing.T) {
	d := newDialogue(t, "notes")
	mustSucceed(t, act(t, d, t.Context(), "plain")) // exits with 0 only when stdin closes without a further message
	committed(t, d, `notes/1 notes={"n":1}`)
}

// Read-only folders resist every user but root.
func TestLitterIsRemoved(t *testing.T) {
	mustSucceed(t, act(t, newDialogue(t, "notes"), t.Context(), "litters"))
}

func TestSpawnFailure(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	d := newDialogue(t, "notes")
	d.spec.Command = childprocess.Command{Path: filepath.Join(temp, "hunter2-very-secret"),
		Secrets: []string{"hunter2-very-secret"}}
	o := Run(t.Context(), d.spec, d, d, nil, Options{})
	mustFail(t, o, ReasonSpawnFailed)
	if left, _ := os.ReadDir(temp); len(left) > 0 || o.ExitCode != -1 || strings.Contains(o.Failure.Message, "hunter2") {
		t.Errorf("outcome = %+v, left = %v", o.Failure, left)
	}
	goleak.VerifyNone(t)
}

// once cancels the run as soon as the connector has reported.
func once(d *dialogue, cancel context.CancelCauseFunc) {
	d.opts.Observe = func(u Update) {
		if u.Message == "ready" {
			cancel(ErrOwnerCancelled)
		}
	}
}

func TestTermination(t *testing.T) {
	t.Run("a connector that ignores SIGTERM is killed", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		d := newDialogue(t, "notes")
		once(d, cancel)
		o := act(t, d, ctx, "ignores SIGTERM")
		mustFail(t, o, ReasonOwnerCancelForced)
		if o.Status != Cancelled && o.ExitCode != -1 {
			t.Errorf("outcome = %s, exit code %d", o.Status, o.ExitCode)
		}
	})
	t.Run("one that obeys may finish its slice", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		d := newDialogue(t, "notes")
		d.opts.KillGrace = time.Minute
		once(d, cancel)
		o := act(t, d, ctx, "obeys SIGTERM")
		mustFail(t, o, ReasonOwnerCancelled)
		committed(t, d, `notes/1 notes={"n":1}`)
		if o.Status != Cancelled || o.ExitCode != 1 {
			t.Errorf("outcome = %s, exit code %d", o.Status, o.ExitCode)
		}
	})
	t.Run("a silent one is ended by the watchdog", func(t *testing.T) {
		d := newDialogue(t, "notes")
		d.opts.NoProgress = 50 * time.Millisecond
		o := act(t, d, t.Context(), "hangs")
		mustFail(t, o, ReasonTimedOut)
	})
	t.Run("one that closes stdout and stays is ended", func(t *testing.T) {
		d := newDialogue(t, "notes")
		d.opts.ExitGrace = 50 * time.Millisecond
		mustFail(t, act(t, d, t.Context(), "closes stdout"), ReasonExitWithoutDone)
	})
}

func TestDoneAtTheVeryEnd(t *testing.T) {
	d := newDialogue(t, "notes")
	mustSucceed(t, act(t, d, t.Context(), "leaves out the last LF"))
	mustFail(t, act(t, newDialogue(t, "notes"), t.Context(), "tears its DONE"), ReasonExitWithoutDone)
}

// The connector writes DONE and exits while the runner is busy with a commit.
// Its pipe is read to the end all the same.
func TestOutputOutlivesTheProcess(t *testing.T) {
	t.Attr("spec", "RT-09.1")
	holding, awaiting := fifo(t, "hold"), fifo(t, "await")
	d := newDialogue(t, "notes")
	d.opts.BatchRecords = 1 // the reader stops at the third record until the first slice is durable
	gone := ended(holding)
	var first bool
	d.onCommit = func() {
		if !first {
			first = true
			release(t, awaiting)
			<-gone
			for len(children(t)) > 0 { // until it is reaped
			}
		}
	}
	o := act(t, d, t.Context(), "is gone before it is read", "HOLD="+holding, "AWAIT="+awaiting)
	mustSucceed(t, o)
	if o.RecordsEmitted != 403 || o.Checkpoint.RecordsFlushed != 403 {
		t.Errorf("%d records accepted, %d durable, of 403", o.RecordsEmitted, o.Checkpoint.RecordsFlushed)
	}
}

func TestExitWithoutDone(t *testing.T) {
	for role, want := range map[string]struct {
		message string
		code    int
		commits []string
	}{
		"exits":         {"exit code 3", 3, []string{`notes/1 notes={"n":1}`}},
		"exits quietly": {"exit code 0", 0, nil},
		"kills itself":  {"ended by signal killed", -1, []string{`notes/1 notes={"n":1}`}},
	} {
		t.Run(role, func(t *testing.T) {
			d := newDialogue(t, "notes")
			o := act(t, d, t.Context(), role)
			mustFail(t, o, ReasonExitWithoutDone)
			committed(t, d, want.commits...)
			if !strings.Contains(o.Failure.Message, want.message) || o.ExitCode != want.code ||
				o.Failure.Origin != OriginConnector {
				t.Errorf("failure = %+v, exit code %d", o.Failure, o.ExitCode)
			}
		})
	}
}
