package localarchive

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

const (
	// defaultMaxRow is the default bound of a row. It limits how much an unclosed quote can swallow.
	defaultMaxRow = 64 << 10
	// maxLineBytes bounds a line; a longer one is passed over.
	maxLineBytes = 1 << 20
)

// ErrRowUnreadable means that a row cannot be read; the next one can.
var ErrRowUnreadable = errors.New("the row cannot be read")

// Table reads a table of comma separated values. A quote that is never closed costs its own
// line, not the rest of the table.
type Table struct {
	// Row is the number of the row that was read last, from zero on.
	Row int64
	// Length is how many bytes it had.
	Length int64
	// Most is how many bytes a row of several lines may have.
	Most int

	in      *bufio.Reader
	waiting []byte // lines that were taken too far
	ended   error
}

// NewTable reads a text.
func NewTable(r io.Reader) *Table {
	return &Table{in: bufio.NewReaderSize(r, 64<<10), Row: -1, Most: defaultMaxRow}
}

// Next returns the fields of the next row; ErrRowUnreadable for one that cannot be read, io.EOF at the end.
// Empty lines are passed over.
func (t *Table) Next() ([]string, error) {
	for {
		line, err := t.readLine()
		if err != nil && !errors.Is(err, ErrRowUnreadable) {
			return nil, err
		}
		if err == nil && len(bytes.Trim(line, "\r\n \x00")) == 0 {
			continue
		}
		t.Row++
		if t.Length = int64(len(line)); err != nil {
			return nil, err
		}
		row := bytes.Clone(line)
		fields, whole := splitCells(row)
		for !whole && fields == nil && len(row) < t.Most {
			more, err := t.readLine()
			if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, ErrRowUnreadable) {
				return nil, err // the end of the row cannot be determined
			}
			if err != nil {
				break
			}
			row = append(row, more...)
			fields, whole = splitCells(row)
		}
		if whole {
			t.Length = int64(len(row))
			return fields, nil
		}
		t.waiting = append(row[len(line):], t.waiting...)
		return nil, ErrRowUnreadable
	}
}

// readLine returns a line with its end.
func (t *Table) readLine() ([]byte, error) {
	if len(t.waiting) > 0 {
		end := bytes.IndexByte(t.waiting, '\n') + 1
		if end == 0 {
			end = len(t.waiting)
		}
		line := t.waiting[:end]
		t.waiting = t.waiting[end:]
		return line, nil
	}
	if t.ended != nil {
		return nil, t.ended
	}
	var line []byte
	long := false
	for {
		piece, err := t.in.ReadSlice('\n')
		if len(line)+len(piece) > maxLineBytes {
			long = true
		} else {
			line = append(line, piece...)
		}
		switch {
		case err == nil && long:
			return nil, ErrRowUnreadable
		case err == nil:
			return line, nil
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		}
		t.ended = err
		switch {
		case long:
			return nil, ErrRowUnreadable
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		}
		return nil, err
	}
}

// splitCells cuts a row into fields. Without any a quote is still open at its end; with some, and not
// whole, a quote was closed at an unusual place: it began in another line.
func splitCells(row []byte) (fields []string, whole bool) {
	text := strings.TrimRight(string(row), "\r\n")
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\uFFFD")
	for {
		if !strings.HasPrefix(text, `"`) {
			field, rest, more := strings.Cut(text, ",")
			fields = append(fields, strings.TrimRight(field, "\r\n"))
			if !more {
				return fields, true
			}
			text = rest
			continue
		}
		var b strings.Builder
		text = text[1:]
		for {
			end := strings.IndexByte(text, '"')
			if end < 0 {
				return nil, false
			}
			b.WriteString(text[:end])
			text = text[end+1:]
			if strings.HasPrefix(text, `"`) {
				b.WriteByte('"')
				text = text[1:]
				continue
			}
			if text == "" || text[0] == ',' {
				break
			}
			if strings.Contains(b.String(), "\n") {
				return []string{}, false
			}
			b.WriteByte('"') // a quote within the text that was not doubled
		}
		fields = append(fields, b.String())
		if text == "" {
			return fields, true
		}
		text = text[1:]
	}
}
