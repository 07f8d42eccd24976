package systemservice

import (
	"fmt"
	"os"
	"sync"
)

const (
	largestLog = 10 << 20
	keptLogs   = 3
)

// LogFile is a log that is bounded: when it is full it is kept under another name, and the
// oldest is removed.
type LogFile struct {
	mu   sync.Mutex
	path string
	file *os.File
	size int64
}

// OpenLog opens or makes the log.
func OpenLog(path string) (*LogFile, error) {
	l := &LogFile{path: path}
	return l, l.open()
}

func (l *LogFile) open() error {
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return fmt.Errorf("open the log: %w", err)
	}
	l.file, l.size = f, info.Size()
	return nil
}

func (l *LogFile) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size+int64(len(line)) > largestLog {
		if err := l.turn(); err != nil {
			return 0, err
		}
	}
	n, err := l.file.Write(line)
	l.size += int64(n)
	return n, err
}

func (l *LogFile) turn() error {
	if err := l.file.Close(); err != nil {
		return err
	}
	for n := keptLogs - 1; n > 0; n-- {
		older := fmt.Sprintf("%s.%d", l.path, n)
		newer := fmt.Sprintf("%s.%d", l.path, n-1)
		if n == 1 {
			newer = l.path
		}
		_ = os.Remove(older)
		if err := os.Rename(newer, older); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return l.open()
}

// Close closes the log.
func (l *LogFile) Close() error { return l.file.Close() }
