package localarchive

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// DecodedText returns a text as UTF-8: without byte order mark, and decoded if it is UTF-16, which is what
// some programs make of a file that passes through them.
func DecodedText(r io.Reader) io.Reader {
	in := bufio.NewReaderSize(r, 64<<10)
	head, err := in.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return in // reading returns the error again
	}
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		_, _ = in.Discard(3) // it was peeked at
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}):
		_, _ = in.Discard(2) // it was peeked at
		return &utf16Reader{in: in, order: binary.LittleEndian}
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		_, _ = in.Discard(2) // it was peeked at
		return &utf16Reader{in: in, order: binary.BigEndian}
	case len(head) == 4 && head[0] != 0 && head[1] == 0 && head[2] != 0 && head[3] == 0:
		return &utf16Reader{in: in, order: binary.LittleEndian}
	case len(head) == 4 && head[0] == 0 && head[1] != 0 && head[2] == 0 && head[3] != 0:
		return &utf16Reader{in: in, order: binary.BigEndian}
	}
	return in
}

// utf16Reader decodes UTF-16.
type utf16Reader struct {
	in    *bufio.Reader
	order binary.ByteOrder
	out   []byte
	err   error
}

func (w *utf16Reader) Read(b []byte) (int, error) {
	for len(w.out) == 0 {
		if w.err != nil {
			return 0, w.err
		}
		w.fillBuffer()
	}
	n := copy(b, w.out)
	w.out = w.out[n:]
	return n, nil
}

func (w *utf16Reader) fillBuffer() {
	w.out = w.out[:0]
	for len(w.out) < 4096 {
		r, err := w.nextUnit()
		if err != nil {
			w.err = err
			return
		}
		if utf16.IsSurrogate(r) {
			low, err := w.nextUnit()
			if err != nil {
				w.err = err
			}
			r = utf16.DecodeRune(r, low)
		}
		w.out = utf8.AppendRune(w.out, r)
	}
}

func (w *utf16Reader) nextUnit() (rune, error) {
	var b [2]byte
	if _, err := io.ReadFull(w.in, b[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = io.EOF // half a character ends the text
		}
		return 0, err
	}
	return rune(w.order.Uint16(b[:])), nil
}
