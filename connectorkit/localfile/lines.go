package localfile

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"
)

const (
	// MaxLine is how long a line may be. A longer one is passed over and declared.
	MaxLine    = 16 << 20
	bufferSize = 256 << 10
	// maxLineGaps bounds the gaps of one file that are written by line.
	maxLineGaps = 100
)

// lineBuffer holds what lines are cut from. The large one is made for the first long line,
// and kept.
type lineBuffer struct{ small, large []byte }

// scanLines reads lines from content that begins at an offset, until it ends.
func (r *sourceReader) scanLines(ctx context.Context, f *foundFile, e *fileEntry, src *lineContent, start int64) error {
	file := r.openedFile(f, e)
	file.line = src.at
	lines := f.store.Lines(file, e.State)
	e.Offset = start
	head := "" // hash of the beginning, to detect a later change
	place := func(open bool) *fileEntry {
		at := *e
		at.Open = open
		if at.Head = head; head == "" {
			at.Head = src.hash(0, min(probeBytes, e.Offset))
		}
		if e.Offset >= probeBytes {
			head = at.Head
		}
		if at.Tail = at.Head; e.Offset > probeBytes {
			at.Tail = src.hash(e.Offset-probeBytes, probeBytes)
		}
		state := lines.State()
		if state == ErrNotResumable {
			at.Head, at.Tail = "", ""
			return &at
		}
		at.State = encodeState(state)
		return &at
	}
	sample := r.f.Sample(f.store.Name, f.store.Streams)
	declared, bad, fresh := 0, false, start == 0 || r.mustReadAgain(f)
	in := lineCutter{src: src, buf: &r.lines, first: start == 0}
	for {
		line, length, err := in.nextLine()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			lines.End() // what could be decoded is kept
			return err
		}
		at := e.Offset
		fresh = true
		e.Offset += length
		r.slice.bytes += length
		file.Offset, file.Length = at, length
		switch {
		case line == nil:
			r.cur.countSkipped(f.store.Name, string(ReasonLineLong), 1)
			if declared++; declared <= maxLineGaps {
				r.declareGap(f, ReasonLineLong, false, lineGapKey(f, at), at, length)
			}
		case len(line) > 0:
			if sample.Due() {
				sample.Content("", line, true)
			}
			if err := lines.Line(line); err != nil {
				r.cur.countSkipped(f.store.Name, string(ReasonMalformed), 1)
				if !bad { // one gap represents all such lines of a file
					bad = true
					r.declareGap(f, ReasonMalformed, false, lineGapKey(f, at), at, length)
				}
			}
		}
		if !r.sliceIsDue() {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := src.check(); err != nil {
			return err
		}
		r.keepEntry(f, place(true))
		if err := r.commitSlice(ctx); err != nil {
			return err
		}
	}
	if err := src.check(); err != nil {
		return err
	}
	if fresh {
		lines.End()
	}
	if left := in.unfinishedBytes(); left > 0 && !e.Torn && r.began.Sub(time.Unix(0, f.change)) > unfinishedAge {
		e.Torn = true
		r.cur.countSkipped(f.store.Name, string(ReasonTruncatedLine), 1)
		r.declareGap(f, ReasonTruncatedLine, true, lineGapKey(f, e.Offset), e.Offset, left)
	}
	*e = *place(false)
	return nil
}

// lineCutter cuts content into lines.
type lineCutter struct {
	src     io.Reader
	buf     *lineBuffer
	first   bool // the next line is the first of the file
	from    int  // of what is not cut yet, in the buffer
	to      int
	dropped int64 // of a last line that did not fit into the buffer
	ended   bool
}

// nextLine returns a line without its end, and its whole length. A line that is too long is nil;
// io.EOF comes where no whole line is left.
func (c *lineCutter) nextLine() (line []byte, length int64, err error) {
	if c.buf.small == nil {
		c.buf.small = make([]byte, bufferSize)
	}
	first := c.first
	c.first = false
	scanned := c.from
	for {
		if i := bytes.IndexByte(c.buf.small[scanned:c.to], '\n'); i >= 0 {
			end := scanned + i
			line = c.buf.small[c.from:end]
			if first {
				line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
			}
			length = int64(end + 1 - c.from)
			c.from = end + 1
			return trimLine(line), length, nil
		}
		scanned = c.to
		if c.from > 0 { // make room
			scanned -= c.from
			copy(c.buf.small, c.buf.small[c.from:c.to])
			c.to -= c.from
			c.from = 0
		}
		if c.to == len(c.buf.small) {
			return c.readLongLine()
		}
		if err := c.fillBuffer(); err != nil {
			return nil, 0, err
		}
	}
}

func (c *lineCutter) fillBuffer() error {
	if c.ended {
		return io.EOF
	}
	n, err := c.src.Read(c.buf.small[c.to:])
	c.to += n
	if errors.Is(err, io.EOF) {
		c.ended = true
		if n == 0 {
			return io.EOF
		}
		return nil
	}
	return err
}

// readLongLine reads a line that is longer than the buffer, which is full of it.
func (c *lineCutter) readLongLine() (line []byte, length int64, err error) {
	if c.buf.large == nil {
		c.buf.large = make([]byte, MaxLine)
	}
	n := copy(c.buf.large, c.buf.small[:c.to])
	length = int64(c.to)
	c.to = 0
	for {
		if err := c.fillBuffer(); err != nil {
			c.dropped = length
			return nil, 0, err
		}
		piece := c.buf.small[:c.to]
		end := bytes.IndexByte(piece, '\n')
		if end >= 0 {
			piece = piece[:end]
		}
		if length+int64(len(piece)) <= MaxLine {
			n += copy(c.buf.large[n:], piece)
		}
		length += int64(len(piece))
		if end >= 0 {
			c.from = end + 1
			if length > MaxLine {
				return nil, length + 1, nil
			}
			return trimLine(c.buf.large[:n]), length + 1, nil
		}
		c.to = 0
	}
}

// unfinishedBytes is how much of a last line without an end there is.
func (c *lineCutter) unfinishedBytes() int64 { return c.dropped + int64(c.to-c.from) }

// trimLine takes off what is around a line: a carriage return, and the zero bytes that a crash
// leaves.
func trimLine(line []byte) []byte {
	if line = bytes.TrimSpace(bytes.Trim(line, "\x00\r")); line == nil {
		return []byte{}
	}
	return line
}
