package collector

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// queueLock keeps a second collector away from a queue. The system releases it
// when the process ends, however it ends.
type queueLock struct{ file *os.File }

// lockQueue takes the lock or says which process has it.
func lockQueue(queue string) (*queueLock, error) {
	if err := os.MkdirAll(filepath.Dir(queue), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the queue: %w", err)
	}
	f, err := os.OpenFile(queue+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the queue: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
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
	_ = l.file.Close()
}
