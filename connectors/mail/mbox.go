package mail

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

const (
	bufferSize = 64 << 10
	probe      = 4 << 10
)

// mark is the place in a mbox: before its last message, which may have been written in part.
type mark struct {
	Offset int64  `json:"offset"`
	Head   string `json:"head"` // hash of the file's beginning
	Tail   string `json:"tail"` // and of what stands before the offset
}

// noMailbox is the place in a file that has no messages.
const noMailbox = -1

// markAt makes a mark, and finds out whether the bytes before a place are the same as when they passed.
func markAt(h io.ReaderAt, offset int64) (mark, error) {
	m := mark{Offset: offset}
	for _, piece := range []struct {
		from, n int64
		to      *string
	}{{0, min(probe, offset), &m.Head}, {max(0, offset-probe), min(probe, offset), &m.Tail}} {
		b := make([]byte, piece.n)
		if _, err := h.ReadAt(b, piece.from); err != nil {
			return m, err
		}
		sum := sha256.Sum256(b)
		*piece.to = hex.EncodeToString(sum[:8])
	}
	return m, nil
}

// readMbox reads the messages of a file that programs append to and now and then write anew. It
// goes on where it was when what stands before is unchanged.
func readMbox(ctx context.Context, f *localfile.File, h *os.File, state jsontext.Value, how reading) error {
	info, err := h.Stat()
	if err != nil {
		return err
	}
	start := mark{}
	if len(state) > 0 && json.Unmarshal(state, &start) != nil {
		start = mark{}
	}
	if start.Offset > 0 {
		if now, err := markAt(h, start.Offset); err != nil || now != start {
			start = mark{}
		}
	}
	head := make([]byte, 5)
	if n, err := h.ReadAt(head, 0); n < len(head) || err != nil || string(head) != "From " {
		if info.Size() > 0 && start.Offset != noMailbox {
			f.Skip("no_mailbox")
			f.SetState(mark{Offset: noMailbox})
		}
		return nil
	}
	start.Offset = max(0, start.Offset)
	b := &box{f: f, h: h, how: how, size: info.Size(), pos: start.Offset, done: start}
	b.r = bufio.NewReaderSize(io.NewSectionReader(h, start.Offset, info.Size()-start.Offset), bufferSize)
	if err := b.messages(ctx); err != nil {
		return err
	}
	f.SetState(b.done)
	return nil
}

// box is a mbox being read.
type box struct {
	f     *localfile.File
	h     *os.File
	r     *bufio.Reader
	how   reading
	size  int64
	pos   int64  // of the next byte
	tail  []byte // the bytes that passed last
	done  mark   // before the last message that was begun
	begun int64  // where the message at work begins

	next  []byte // a line that begins the next message was met
	blank bool   // the last line was empty
	mid   bool   // in the middle of a line
	eof   bool
}

func (b *box) messages(ctx context.Context) error {
	line, _, err := b.line()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if !begins(line) {
		return localfile.ErrMoved // it was read differently a moment ago
	}
	for !b.eof {
		b.begun = b.pos - int64(len(line))
		m := b.how.begin(b.f)
		m.Unquote = true
		if err := m.Parse(b.body); err != nil {
			return err
		}
		m.Size = b.pos - int64(len(b.next)) - b.begun
		m.Identify("mbox/")
		m.Folder = mboxFolder(b.f.Rel)
		if err := b.check(); err != nil {
			return err
		}
		emit(b.f, m)
		b.f.Read(m.Size)
		if line = b.next; line == nil {
			break
		}
		b.next = nil
		if err := b.f.Place(ctx, func() any { return b.done }); err != nil {
			return err
		}
	}
	return nil
}

// check finds out whether the file was cut or written anew while it was read, and moves the mark
// before the message at work.
func (b *box) check() error {
	info, err := b.h.Stat()
	if err != nil {
		return err
	}
	if info.Size() < b.size {
		return localfile.ErrMoved
	}
	n := min(int64(len(b.tail)), probe)
	now := make([]byte, n)
	if _, err := b.h.ReadAt(now, b.pos-n); err != nil || !bytes.Equal(now, b.tail[int64(len(b.tail))-n:]) {
		return localfile.ErrMoved
	}
	m, err := markAt(b.h, b.begun)
	if err != nil || b.done.Offset >= probe && m.Head != b.done.Head {
		return localfile.ErrMoved
	}
	b.done = m
	return nil
}

// line gives the next line with its end, or a part of a long one.
func (b *box) line() (line []byte, whole bool, err error) {
	line, err = b.r.ReadSlice('\n')
	b.pos += int64(len(line))
	if b.tail = append(b.tail, line...); len(b.tail) > 4*probe+bufferSize {
		b.tail = append(b.tail[:0], b.tail[len(b.tail)-probe:]...)
	}
	if errors.Is(err, bufio.ErrBufferFull) {
		return line, false, nil
	}
	if errors.Is(err, io.EOF) && b.pos < b.size {
		return line, true, localfile.ErrMoved // it was cut meanwhile
	}
	return line, true, err
}

// body gives the lines of one message, and io.EOF where the next one begins.
func (b *box) body() ([]byte, bool, error) {
	if b.next != nil || b.eof {
		return nil, false, io.EOF
	}
	line, whole, err := b.line()
	if errors.Is(err, io.EOF) {
		b.eof = true
		if len(line) == 0 {
			return nil, false, io.EOF
		}
		err = nil
	}
	if err != nil {
		return nil, false, err
	}
	if b.blank && !b.mid && begins(line) {
		b.next = bytes.Clone(line)
		return nil, false, io.EOF
	}
	b.blank = !b.mid && len(bytes.TrimRight(line, "\r\n")) == 0
	b.mid = !whole
	return line, whole, nil
}

// begins reports whether a line begins a message: From, a sender, and a time with a year.
func begins(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("From "))
	if !ok {
		return false
	}
	rest = bytes.TrimSpace(rest)
	if len(rest) == 0 || bytes.Equal(rest, []byte("-")) || bytes.Equal(rest, []byte("???@??? ???")) {
		return true
	}
	clock, year := false, false
	for _, word := range strings.Fields(string(rest)) {
		clock = clock || len(word) >= 4 && len(word) <= 8 && strings.Count(word, ":") >= 1 && strings.Trim(word, "0123456789:") == ""
		year = year || len(word) == 4 && strings.Trim(word, "0123456789") == "" && (word[0] == '1' || word[0] == '2')
	}
	return clock && year
}

// mboxFolder is what the file is called, without its ending.
func mboxFolder(rel string) string {
	rel = strings.TrimSuffix(strings.TrimSuffix(rel, ".mbox"), ".mbx")
	return strings.ToValidUTF8(rel, "\uFFFD")
}
