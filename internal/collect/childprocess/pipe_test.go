//go:build unix

package childprocess

import (
	"bytes"
	"io"
	"os"
	"testing"
)

func testPipe(t *testing.T) (*outputPipe, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close(); _ = w.Close() })
	return newOutputPipe(r), w
}

// All bytes written before the exit are read after it, although the other end stays open.
func TestPipeEndsWhenEmptyAfterExit(t *testing.T) {
	p, w := testPipe(t)
	want := bytes.Repeat([]byte("0123456789"), 6000)
	if _, err := w.Write(want); err != nil {
		t.Fatal(err)
	}
	p.processExited()
	got, err := io.ReadAll(p)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d of %d bytes, %v", len(got), len(want), err)
	}
}

func TestPipeWakesBlockedReader(t *testing.T) {
	p, _ := testPipe(t)
	read := make(chan error)
	go func() {
		_, err := p.Read(make([]byte, 1))
		read <- err
	}()
	p.processExited()
	if err := <-read; err != io.EOF {
		t.Errorf("error = %v", err)
	}
}

// A descendant that refills the pipe cannot block the reader forever.
func TestPipeIsBoundedAfterExit(t *testing.T) {
	p, w := testPipe(t)
	p.processExited()
	chunk, total := make([]byte, 4096), 0
	for total <= 2*maxPipeBytes {
		if _, err := w.Write(chunk); err != nil {
			t.Fatal(err)
		}
		n, err := p.Read(chunk)
		if total += n; err == io.EOF {
			break
		}
	}
	if total != maxPipeBytes {
		t.Errorf("read %d bytes after the exit, want %d", total, maxPipeBytes)
	}
}

func TestPipeWithoutWriters(t *testing.T) {
	p, w := testPipe(t)
	_, _ = w.Write([]byte("last"))
	_ = w.Close()
	if got, err := io.ReadAll(p); err != nil || string(got) != "last" {
		t.Errorf("read %q, %v", got, err)
	}
}
