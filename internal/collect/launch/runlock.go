package launch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/browser"
	"github.com/pdpp-go/pdpp/internal/ops/filelock"
)

// leftOver is the age after which the unlocked file of a run is removed. The lease of a process that died
// ran out long before.
const leftOver = time.Hour

// RunLocks is a folder with a locked file for each run of this machine's processes. The lock ends with the
// process, however that ends, so that the next run need not wait until the lease of a dead process runs out. It
// only adds to the lease: a run without a file here, such as one of another machine, keeps its connection.
type RunLocks string

// RunLocksIn returns the locks of the processes that share a home.
func RunLocksIn(home string) RunLocks { return RunLocks(filepath.Join(home, "running")) }

// runLock is the locked file of one run.
type runLock struct{ file *os.File }

// hold locks the file of a run before its lease is taken. Nil means that the file cannot be made; then only
// the lease counts.
func (l RunLocks) hold(runID string) *runLock {
	if l == "" || os.MkdirAll(string(l), 0o700) != nil {
		return nil
	}
	l.removeStale()
	f, err := os.OpenFile(l.path(runID), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil
	}
	held := &runLock{f}
	locked, err := filelock.TryLock(f)
	if locked {
		_, err = f.WriteString(browser.BootID())
	}
	if !locked || err != nil {
		held.release()
		return nil
	}
	return held
}

// runEnded returns the lock of a run that has lost its process; nil when it lives, or when that is not known. The
// file was locked before the run's lease was there, so only the end of that process can have unlocked it. A
// file that another boot wrote proves nothing: another machine may share the folder.
func (l RunLocks) runEnded(runID string) *runLock {
	boot := browser.BootID()
	if l == "" || boot == "" {
		return nil
	}
	f, err := os.OpenFile(l.path(runID), os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	written := make([]byte, len(boot)+1)
	n, _ := f.Read(written)
	if string(written[:n]) == boot {
		if locked, _ := filelock.TryLock(f); locked {
			return &runLock{f}
		}
	}
	_ = f.Close()
	return nil
}

// release removes the file and ends its lock.
func (r *runLock) release() {
	if r != nil {
		_ = errors.Join(os.Remove(r.file.Name()), r.file.Close()) // what stays is swept
	}
}

// removeStale removes old files of processes that died.
func (l RunLocks) removeStale() {
	all, err := os.ReadDir(string(l))
	if err != nil {
		return
	}
	for _, entry := range all {
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > leftOver {
			l.runEnded(entry.Name()).release()
		}
	}
}

// path keeps to the folder, whatever a database names.
func (l RunLocks) path(runID string) string {
	return filepath.Join(string(l), strings.ReplaceAll(runID, string(filepath.Separator), "_"))
}
