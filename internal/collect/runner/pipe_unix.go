//go:build unix

package runner

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// maxPipe is what a pipe holds at most: the kernel's limit for processes
// without privileges.
const maxPipe = 1 << 20

// ended tells the reader that the process is gone, also one that waits.
func (p *pipe) ended() { _ = p.file.SetReadDeadline(time.Unix(1, 0)) }

func (p *pipe) Read(b []byte) (int, error) {
	if p.left < 0 {
		n, err := p.file.Read(b)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		p.left = maxPipe
		_ = p.file.SetReadDeadline(time.Time{})
	}
	return p.rest(b)
}

// rest reads without waiting. An empty pipe is the end.
func (p *pipe) rest(b []byte) (n int, err error) {
	raw, err := p.file.SyscallConn()
	if err != nil {
		return 0, err
	}
	b = b[:min(len(b), p.left)]
	outer := raw.Read(func(fd uintptr) bool {
		for {
			if n, err = syscall.Read(int(fd), b); err != syscall.EINTR {
				return true
			}
		}
	})
	if outer != nil || err != nil || n <= 0 {
		return 0, io.EOF
	}
	p.left -= n
	return n, nil
}
