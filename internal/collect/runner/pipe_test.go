package runner

import (
	"bytes"
	"io"
	"os"
	"testing"
)

func testPipe(t *testing.T) (*pipe, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close(); _ = w.Close() })
	return newPipe(r), w
}

// Everything that was written before the end is read after it, although the
// other end stays open.
func TestPipeEndsWhereItRunsEmpty(t *testing.T) {
	p, w := testPipe(t)
	want := bytes.Repeat([]byte("0123456789"), 6000)
	if _, err := w.Write(want); err != nil {
		t.Fatal(err)
	}
	p.ended()
	got, err := io.ReadAll(p)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d of %d bytes, %v", len(got), len(want), err)
	}
}

func TestPipeWakesAReaderThatWaits(t *testing.T) {
	p, _ := testPipe(t)
	read := make(chan error)
	go func() {
		_, err := p.Read(make([]byte, 1))
		read <- err
	}()
	p.ended()
	if err := <-read; err != io.EOF {
		t.Errorf("error = %v", err)
	}
}

// Somebody who keeps the pipe full cannot keep the reader for ever.
func TestPipeIsBoundedAfterTheEnd(t *testing.T) {
	p, w := testPipe(t)
	p.ended()
	chunk, total := make([]byte, 4096), 0
	for total <= 2*maxPipe {
		if _, err := w.Write(chunk); err != nil {
			t.Fatal(err)
		}
		n, err := p.Read(chunk)
		if total += n; err == io.EOF {
			break
		}
	}
	if total != maxPipe {
		t.Errorf("%d bytes were read after the end, of at most %d", total, maxPipe)
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
