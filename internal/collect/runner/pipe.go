package runner

import (
	"errors"
	"io"
	"os"
	"sync"
)

// pipe is the runner's end of an output pipe. All that a process has written is
// in its pipe when it is gone. So from then on the pipe ends where it runs
// empty, even while a descendant that left the group holds the other end; and a
// reader that was busy with a slow commit still finds every byte.
type pipe struct {
	file *os.File
	left int // bytes that may be read after the end of the process; -1 while it lives
}

func newPipe(f *os.File) *pipe { return &pipe{file: f, left: -1} }

// ending notes how a connector's output ends.
type ending struct {
	io.Reader
	last byte
	over bool
}

func (e *ending) Read(b []byte) (int, error) {
	n, err := e.Reader.Read(b)
	if n > 0 {
		e.last = b[n-1]
	}
	e.over = e.over || errors.Is(err, io.EOF)
	return n, err
}

// torn reports whether the output is over and its last line has no end.
func (e *ending) torn() bool { return e.over && e.last != '\n' }

// tailBuffer keeps the last max bytes written to it.
type tailBuffer struct {
	mu  sync.Mutex
	max int
	buf []byte
	cut bool
}

func (t *tailBuffer) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if over := len(t.buf) - t.max; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
		t.cut = true
	}
	return len(b), nil
}

func (t *tailBuffer) tail() (text string, cut bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf), t.cut
}
