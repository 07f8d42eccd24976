package protocol

import (
	"bufio"
	"errors"
	"io"
	"strconv"
)

// DefaultMaxLine bounds one line, so that a connector cannot exhaust the runner's memory.
const DefaultMaxLine = 16 << 20

// LineReader splits a stream strictly at LF. It removes one trailing CR, skips blank lines and also returns a
// last line without LF. U+2028 and U+2029 are ordinary characters.
type LineReader struct {
	r    *bufio.Reader
	max  int
	long []byte
	fail error // returned by every further call
}

// NewLineReader returns a reader of lines of at most max bytes. Zero means DefaultMaxLine.
func NewLineReader(r io.Reader, max int) *LineReader {
	if max <= 0 {
		max = DefaultMaxLine
	}
	return &LineReader{r: bufio.NewReaderSize(r, 256<<10), max: max}
}

// Next returns the next line, which is valid until the following call. At the end it returns io.EOF, the reader's
// error or a LineTooLong violation, and repeats it for all further calls.
func (l *LineReader) Next() ([]byte, error) {
	for l.fail == nil {
		line, err := l.next()
		if n := len(line); n > 0 && line[n-1] == '\r' {
			line = line[:n-1]
		}
		switch {
		case err != nil:
			l.fail = err
		case len(line) > l.max:
			l.fail = l.tooLong()
		case len(line) > 0:
			return line, nil
		}
	}
	return nil, l.fail
}

// Buffered returns how many bytes can be read without waiting for the connector.
func (l *LineReader) Buffered() int { return l.r.Buffered() }

func (l *LineReader) next() ([]byte, error) {
	if cap(l.long) > 1<<20 {
		l.long = nil // do not keep the memory of one huge line
	}
	l.long = l.long[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		if err == nil {
			part = part[:len(part)-1]
		}
		if len(l.long)+len(part) > l.max+len("\r") {
			return nil, l.tooLong()
		}
		switch {
		case err == nil && len(l.long) == 0:
			return part, nil
		case err == nil:
			l.long = append(l.long, part...)
			return l.long, nil
		case errors.Is(err, bufio.ErrBufferFull):
			l.long = append(l.long, part...)
		case errors.Is(err, io.EOF) && len(l.long)+len(part) > 0:
			l.long = append(l.long, part...)
			return l.long, nil
		default:
			return nil, err
		}
	}
}

func (l *LineReader) tooLong() error {
	return &Violation{
		Subtype:  LineTooLong,
		Expected: []string{"a line of at most " + strconv.Itoa(l.max) + " bytes"},
		Received: "a longer line",
	}
}
