//go:build unix

package childprocess

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// maxPipeBytes is the kernel's limit for the content of an unprivileged process's pipe.
const maxPipeBytes = 1 << 20

// processExited wakes a blocked reader: from now on an empty pipe is EOF.
func (p *outputPipe) processExited() { _ = p.file.SetReadDeadline(time.Unix(1, 0)) }

func (p *outputPipe) Read(b []byte) (int, error) {
	if p.left < 0 {
		n, err := p.file.Read(b)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		p.left = maxPipeBytes
		_ = p.file.SetReadDeadline(time.Time{})
	}
	return p.readRemaining(b)
}

// readRemaining reads without blocking and returns EOF for an empty pipe.
func (p *outputPipe) readRemaining(b []byte) (n int, err error) {
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
