package protocol

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// readAll collects lines until the reader ends, and how it ended.
func readAll(l *LineReader) (lines []string, end error) {
	for {
		line, err := l.Next()
		if err != nil {
			return lines, err
		}
		lines = append(lines, string(line))
	}
}

func TestLineReaderSplits(t *testing.T) {
	for input, want := range map[string][]string{
		"":                             nil,
		"\n\n\r\n\n":                   nil,
		"a\nb\n":                       {"a", "b"},
		"a\nb":                         {"a", "b"}, // the last line needs no LF
		"a\r\nb\r\r\n\r\r\nc\r":        {"a", "b\r", "\r", "c"},
		"a\rb\n":                       {"a\rb"}, // a single CR is no line end
		"\n\na\n\n\nb\n\n":             {"a", "b"},
		"a\u2028b\u2029c\u0085d\vef\n": {"a\u2028b\u2029c\u0085d\vef"},
		" \n\t\n":                      {" ", "\t"},
		"\x00\n\xff\xfe\n":             {"\x00", "\xff\xfe"},
	} {
		lines, end := readAll(NewLineReader(strings.NewReader(input), 0))
		if diff := cmp.Diff(want, lines); diff != "" || end != io.EOF {
			t.Errorf("%q ends with %v (-want +got):\n%s", input, end, diff)
		}
	}
}

func TestLineBound(t *testing.T) {
	const limit = 1000
	long := strings.Repeat("x", limit)
	for _, end := range []string{"\n", "\r\n", ""} {
		lines, err := readAll(NewLineReader(strings.NewReader("a\n"+long+end), limit))
		if err != io.EOF || len(lines) != 2 || lines[1] != long {
			t.Errorf("a line at the bound, then %q: %d lines, %v", end, len(lines), err)
		}
		l := NewLineReader(strings.NewReader("a\n"+long+"x"+end+"\nb\n"), limit)
		lines, err = readAll(l)
		want := &Violation{
			Subtype:  LineTooLong,
			Expected: []string{"a line of at most 1000 bytes"},
			Received: "a longer line",
		}
		if v, _ := AsViolation(err); len(lines) != 1 || !cmp.Equal(v, want) {
			t.Errorf("a line past the bound, then %q: %d lines, %v", end, len(lines), err)
		}
		if line, again := l.Next(); line != nil || again != err {
			t.Errorf("after the violation: %q, %v", line, again)
		}
	}
}

// The bound holds although the line never ends, and the memory stays near it.
func TestEndlessLine(t *testing.T) {
	const byDefault = "a line of at most 16777216 bytes"
	for limit, want := range map[int]string{3 << 20: "a line of at most 3145728 bytes", 0: byDefault, -1: byDefault} {
		l := NewLineReader(endless{}, limit)
		_, err := l.Next()
		if v, _ := AsViolation(err); v == nil || v.Subtype != LineTooLong || v.Expected[0] != want {
			t.Errorf("bound %d: %v", limit, err)
		}
		if cap(l.long) > 2*DefaultMaxLine {
			t.Errorf("bound %d: %d bytes held", limit, cap(l.long))
		}
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// Lines beyond the read buffer are assembled, and their memory is released.
func TestLinesLongerThanTheBuffer(t *testing.T) {
	var want []string
	for _, n := range []int{1, 256<<10 - 1, 256 << 10, 256<<10 + 1, 5, 700 << 10, 3 << 20, 7, 600 << 10, 8} {
		want = append(want, strings.Repeat("ab", n)[:n])
	}
	input := strings.Join(want, "\n")
	for _, reader := range []io.Reader{
		strings.NewReader(input), iotest.HalfReader(strings.NewReader(input)), iotest.DataErrReader(strings.NewReader(input)),
	} {
		l := NewLineReader(reader, 0)
		lines, end := readAll(l)
		if end != io.EOF || !slices.Equal(want, lines) {
			t.Errorf("%T: %d lines, %v", reader, len(lines), end)
		}
		if cap(l.long) > 1<<20 {
			t.Errorf("%T: %d bytes are held after a short line", reader, cap(l.long))
		}
	}
}

// The reader's own error comes through, after the whole lines before it, and
// the half line it cut off does not pass for a whole one.
func TestReaderErrorsPassOn(t *testing.T) {
	broken := errors.New("pipe is broken")
	for _, cause := range []error{broken, io.ErrUnexpectedEOF, iotest.ErrTimeout} {
		l := NewLineReader(io.MultiReader(strings.NewReader("a\nb\nhalf"), iotest.ErrReader(cause)), 0)
		lines, end := readAll(l)
		if diff := cmp.Diff([]string{"a", "b"}, lines); diff != "" || !errors.Is(end, cause) {
			t.Errorf("%v (-want +got):\n%s", end, diff)
		}
		if _, again := l.Next(); again != end {
			t.Errorf("then %v", again)
		}
	}
}

func TestBuffered(t *testing.T) {
	l := NewLineReader(strings.NewReader("one\ntwo\n"), 0)
	for i, want := range []int{len("two\n"), 0} {
		if _, err := l.Next(); err != nil || l.Buffered() != want {
			t.Errorf("after line %d: %d bytes buffered (%v), want %d", i+1, l.Buffered(), err, want)
		}
	}
}

// However the bytes arrive, the lines are those between the LFs.
func TestLineReaderEqualsSplit(t *testing.T) {
	piece := rapid.OneOf(rapid.SampledFrom([]string{"\n", "\r", "\r\n", "\u2028", "\u2029", "", "{}"}), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		input := strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), "")
		var want []string
		for line := range strings.SplitSeq(input, "\n") {
			if line = strings.TrimSuffix(line, "\r"); line != "" {
				want = append(want, line)
			}
		}
		reader := rapid.SampledFrom([]func(io.Reader) io.Reader{
			iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader,
			func(r io.Reader) io.Reader { return iotest.OneByteReader(iotest.DataErrReader(r)) },
			func(r io.Reader) io.Reader { return chunks{r, t} },
		}).Draw(t, "reader")(strings.NewReader(input))
		lines, end := readAll(NewLineReader(reader, 0))
		if diff := cmp.Diff(want, lines); diff != "" || end != io.EOF {
			t.Fatalf("%q ends with %v (-want +got):\n%s", input, end, diff)
		}
	})
}

// chunks returns its content in pieces of random size.
type chunks struct {
	r io.Reader
	t *rapid.T
}

func (c chunks) Read(p []byte) (int, error) {
	return c.r.Read(p[:rapid.IntRange(1, min(9, len(p))).Draw(c.t, "chunk")])
}
