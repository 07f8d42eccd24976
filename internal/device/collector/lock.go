package collector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/filelock"
	"github.com/pdpp-go/pdpp/internal/ops/usererr"
)

// queueLock keeps a second collector away from a queue. The system releases it
// when the process ends, however it ends.
type queueLock struct{ file *os.File }

// lockStep is how often a collector looks whether another has ended.
const lockStep = 250 * time.Millisecond

// awaitLock takes the lock, after another collector if there is one: a pass ends soon.
func (c *Collector) awaitLock(ctx context.Context) (*queueLock, error) {
	for left := c.Policy.withDefaults().AwaitLock; ; left -= lockStep {
		lock, err := lockQueue(c.Profile.Queue)
		var active *usererr.Error
		if err == nil || !errors.As(err, &active) || left < lockStep {
			return lock, err
		}
		if err := c.wait(ctx, lockStep); err != nil {
			return nil, err
		}
	}
}

// lockQueue locks the queue. If another process holds the lock, the error names that process.
func lockQueue(queue string) (*queueLock, error) {
	if err := os.MkdirAll(filepath.Dir(queue), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the queue: %w", err)
	}
	f, err := os.OpenFile(queue+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the queue: %w", err)
	}
	taken, err := filelock.TryLock(f)
	if err == nil && !taken {
		holder, _ := io.ReadAll(io.LimitReader(f, 32))
		_ = f.Close()
		pid := strings.TrimSpace(string(holder))
		if pid == "" {
			pid = "unknown"
		}
		return nil, operatorFault("collector_active", "Wait until it ends, then run the command again.",
			"another collector is using this queue (process %s)", pid)
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock the queue: %w", err)
	}
	return &queueLock{f}, nil
}

// release leaves the file empty and in place: removing it would let two
// processes hold the lock of two files of one name.
func (l *queueLock) release() {
	_ = l.file.Truncate(0)
	_ = filelock.Unlock(l.file) // a child that is being started has the file open for a moment
	_ = l.file.Close()
}
