package childprocess

import (
	"os"
	"sync"
)

// outputPipe is this process's end of a child's output pipe. When the child has exited, all of its output is in
// the pipe. From then on an empty pipe reads as EOF, even if a descendant outside the group holds the other end.
// A reader that was busy with a slow commit still gets every byte.
type outputPipe struct {
	file *os.File
	left int // bytes that may be read after the child exited; -1 while it runs
}

func newOutputPipe(f *os.File) *outputPipe { return &outputPipe{file: f, left: -1} }

// TailBuffer stores the last Limit bytes written to it.
type TailBuffer struct {
	Limit int

	mu        sync.Mutex
	buffer    []byte
	truncated bool
}

// Write appends b and drops the oldest bytes beyond Limit. It never fails.
func (t *TailBuffer) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buffer = append(t.buffer, b...)
	if over := len(t.buffer) - t.Limit; over > 0 {
		t.buffer = append(t.buffer[:0], t.buffer[over:]...)
		t.truncated = true
	}
	return len(b), nil
}

// Tail returns the stored bytes, and whether earlier bytes were dropped.
func (t *TailBuffer) Tail() (text string, truncated bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buffer), t.truncated
}
