package foreign

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// tapOutput reads a tap's standard output. It counts all bytes that the tap has written, read or not, so that a
// request of the tap can be located between two of its messages.
type tapOutput struct {
	file *os.File
	raw  syscall.RawConn
	mu   sync.Mutex
	read int64
}

func newOutput(f *os.File) (*tapOutput, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("open the tap's output: %w", err)
	}
	return &tapOutput{file: f, raw: raw}, nil
}

// Read counts under the lock that written holds, so that no byte is counted twice or missed.
func (o *tapOutput) Read(p []byte) (n int, err error) {
	closed := o.raw.Read(func(fd uintptr) bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		for {
			n, err = unix.Read(int(fd), p)
			if !errors.Is(err, unix.EINTR) {
				break
			}
		}
		o.read += int64(max(n, 0))
		return !errors.Is(err, unix.EAGAIN)
	})
	switch {
	case closed != nil:
		return 0, closed
	case err != nil:
		return 0, fmt.Errorf("read the tap's output: %w", err)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

func (o *tapOutput) Close() error { return o.file.Close() }

// consumed returns how many bytes were read.
func (o *tapOutput) consumed() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.read
}

// written returns how many bytes the tap has written, or a negative number if unknown.
func (o *tapOutput) written() int64 {
	total := int64(-1)
	_ = o.raw.Control(func(fd uintptr) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if waiting, err := unix.IoctlGetInt(int(fd), unix.TIOCINQ); err == nil {
			total = o.read + int64(waiting)
		}
	})
	return total
}
