package chaostest

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// worker is the place of one pdpp process. It plays the service manager: a
// process that ends is started again until the place is closed.
type worker struct {
	command func() *exec.Cmd
	journal *journal
	gone    chan struct{}

	mu      sync.Mutex
	cmd     *exec.Cmd // nil while none runs
	id      string    // of the process, once it is ready
	starts  int
	shield  bool // not to be killed: it is paused on purpose
	closing bool
	exit    int // of the last process
}

func startWorker(t *testing.T, j *journal, command func() *exec.Cmd) *worker {
	w := &worker{command: command, journal: j, gone: make(chan struct{})}
	go w.keepAlive(t)
	t.Cleanup(func() {
		w.signal(syscall.SIGKILL, true)
		<-w.gone
	})
	return w
}

func (w *worker) keepAlive(t *testing.T) {
	defer close(w.gone)
	// The process ends with this thread, should the test be ended by force.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for {
		cmd := w.command()
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
		cmd.WaitDelay = 5 * time.Second
		stdout, _ := cmd.StdoutPipe()
		stderr, _ := cmd.StderrPipe()
		w.mu.Lock()
		if w.closing {
			w.mu.Unlock()
			return
		}
		if err := cmd.Start(); err != nil {
			w.mu.Unlock()
			t.Errorf("start pdpp: %v", err)
			return
		}
		w.cmd, w.id, w.starts = cmd, "", w.starts+1
		w.mu.Unlock()
		var read sync.WaitGroup
		read.Go(func() { w.awaitReady(cmd, stdout) })
		read.Go(func() { w.journal.read(stderr) })
		read.Wait()
		_ = cmd.Wait()
		w.mu.Lock()
		w.cmd, w.id, w.exit = nil, "", cmd.ProcessState.ExitCode()
		closing := w.closing
		w.mu.Unlock()
		if closing {
			return
		}
		time.Sleep(100 * time.Millisecond) // as service managers do
	}
}

func (w *worker) awaitReady(cmd *exec.Cmd, stdout io.Reader) {
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		var ready struct {
			ID string `json:"worker_id"`
		}
		if json.Unmarshal(lines.Bytes(), &ready) == nil && ready.ID != "" {
			w.mu.Lock()
			if w.cmd == cmd {
				w.id = ready.ID
			}
			w.mu.Unlock()
		}
	}
}

// ready returns the id of the process, or "" while no process works.
func (w *worker) ready() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.id
}

// started reports how many processes there have been.
func (w *worker) started() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.starts
}

// kill ends the process with SIGKILL and reports whether there was one to be killed.
func (w *worker) kill() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.shield && w.cmd != nil && w.cmd.Process.Signal(syscall.SIGKILL) == nil
}

// stop pauses the ready process. The process is not killed until resume.
func (w *worker) stop() (id string, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.id == "" || w.cmd == nil || w.cmd.Process.Signal(syscall.SIGSTOP) != nil {
		return "", false
	}
	w.shield = true
	return w.id, true
}

func (w *worker) resume() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cmd != nil {
		_ = w.cmd.Process.Signal(syscall.SIGCONT)
	}
}

func (w *worker) unshield() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.shield = false
}

func (w *worker) signal(s syscall.Signal, last bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closing = w.closing || last
	if w.cmd != nil {
		_ = w.cmd.Process.Signal(s)
	}
}

// close asks the process to shut down and returns its exit code.
func (w *worker) close(ctx context.Context) (exit int, err error) {
	w.signal(syscall.SIGTERM, true)
	err = until(ctx, "a worker that was told to stop has left", 2*time.Minute, func() (bool, error) {
		select {
		case <-w.gone:
			return true, nil
		default:
			return false, nil
		}
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.exit, err
}

// journal collects the standard error of the workers.
type journal struct {
	mu    sync.Mutex
	ended map[string]bool // runs with an end that their own worker reported, or could not record
	tail  []string
	panic string
}

func (j *journal) read(stderr io.Reader) {
	lines := bufio.NewScanner(stderr)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		j.note(lines.Text())
	}
}

func (j *journal) note(line string) {
	var entry struct {
		Message string `json:"msg"`
		RunID   string `json:"run_id"`
		Error   string `json:"error"`
	}
	structured := json.Unmarshal([]byte(line), &entry) == nil
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.ended == nil {
		j.ended = map[string]bool{}
	}
	if entry.Message == "run ended" {
		j.ended[entry.RunID] = true
	}
	if id := unrecorded.FindStringSubmatch(entry.Error); id != nil {
		j.ended[id[1]] = true
	}
	switch {
	case structured:
	case j.panic == "" && (strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:")):
		j.panic = line
	case j.panic != "" && len(j.panic) < 4000:
		j.panic += "\n" + line // where it was
	}
	j.tail = append(j.tail, line)
	j.tail = j.tail[max(0, len(j.tail)-400):]
}

// unrecorded matches a run with an outcome that the store refused.
var unrecorded = regexp.MustCompile(`record the outcome of run (\S+): .*` +
	regexp.QuoteMeta(store.ErrLeaseLost.Error()))

// told reports whether a run's own worker reported its end.
func (j *journal) told(runID string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.ended[runID]
}
