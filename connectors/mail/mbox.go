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
	readBuffer     = 64 << 10
	mboxProbeBytes = 4 << 10
)

// mboxMark is the place in a mbox: before its last message, which may have been written in part.
type mboxMark struct {
	Offset int64  `json:"offset"`
	Head   string `json:"head"` // hash of the file's beginning
	Tail   string `json:"tail"` // and of the bytes before the offset
}

// notMailboxOffset is the place in a file that has no messages.
const notMailboxOffset = -1

// markAtOffset makes a mark, and finds out whether the bytes before a place are the same as when they passed.
func markAtOffset(h io.ReaderAt, offset int64) (mboxMark, error) {
	m := mboxMark{Offset: offset}
	for _, piece := range []struct {
		from, n int64
		to      *string
	}{{0, min(mboxProbeBytes, offset), &m.Head}, {max(0, offset-mboxProbeBytes), min(mboxProbeBytes, offset), &m.Tail}} {
		b := make([]byte, piece.n)
		if _, err := h.ReadAt(b, piece.from); err != nil {
			return m, err
		}
		sum := sha256.Sum256(b)
		*piece.to = hex.EncodeToString(sum[:8])
	}
	return m, nil
}

// readMboxFile reads the messages of a file that programs append to and sometimes rewrite. It continues from the mark
// when the bytes before it are unchanged.
func readMboxFile(ctx context.Context, f *localfile.File, h *os.File, state jsontext.Value, how messageOptions) error {
	info, err := h.Stat()
	if err != nil {
		return err
	}
	start := mboxMark{}
	if len(state) > 0 && json.Unmarshal(state, &start) != nil {
		start = mboxMark{}
	}
	if start.Offset > 0 {
		if now, err := markAtOffset(h, start.Offset); err != nil || now != start {
			start = mboxMark{}
		}
	}
	head := make([]byte, 5)
	if n, err := h.ReadAt(head, 0); n < len(head) || err != nil || string(head) != "From " {
		if info.Size() > 0 && start.Offset != notMailboxOffset {
			f.Skip("no_mailbox")
			f.SetState(mboxMark{Offset: notMailboxOffset})
		}
		return nil
	}
	start.Offset = max(0, start.Offset)
	b := &mboxReader{f: f, h: h, how: how, size: info.Size(), pos: start.Offset, done: start}
	b.r = bufio.NewReaderSize(io.NewSectionReader(h, start.Offset, info.Size()-start.Offset), readBuffer)
	if err := b.readMessages(ctx); err != nil {
		return err
	}
	f.SetState(b.done)
	return nil
}

// mboxReader is a mbox being read.
type mboxReader struct {
	f     *localfile.File
	h     *os.File
	r     *bufio.Reader
	how   messageOptions
	size  int64
	pos   int64    // of the next byte
	tail  []byte   // the bytes that passed last
	done  mboxMark // before the last message that was begun
	begun int64    // where the message at work begins

	next  []byte // a line that begins the next message was met
	blank bool   // the last line was empty
	mid   bool   // in the middle of a line
	eof   bool
}

func (b *mboxReader) readMessages(ctx context.Context) error {
	line, _, err := b.readMboxLine()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if !beginsMessage(line) {
		return localfile.ErrFileChanged // it was read differently a moment ago
	}
	for !b.eof {
		b.begun = b.pos - int64(len(line))
		m := b.how.newMessage(b.f)
		m.Unquote = true
		if err := m.Parse(b.readMessageBody); err != nil {
			return err
		}
		m.Size = b.pos - int64(len(b.next)) - b.begun
		m.Identify("mbox/")
		m.Folder = mboxFolder(b.f.Rel)
		if err := b.checkUnchanged(); err != nil {
			return err
		}
		emitMessage(b.f, m)
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

// checkUnchanged reports whether the file was cut or rewritten while it was read, and moves the mark before the
// current message.
func (b *mboxReader) checkUnchanged() error {
	info, err := b.h.Stat()
	if err != nil {
		return err
	}
	if info.Size() < b.size {
		return localfile.ErrFileChanged
	}
	n := min(int64(len(b.tail)), mboxProbeBytes)
	now := make([]byte, n)
	if _, err := b.h.ReadAt(now, b.pos-n); err != nil || !bytes.Equal(now, b.tail[int64(len(b.tail))-n:]) {
		return localfile.ErrFileChanged
	}
	m, err := markAtOffset(b.h, b.begun)
	if err != nil || b.done.Offset >= mboxProbeBytes && m.Head != b.done.Head {
		return localfile.ErrFileChanged
	}
	b.done = m
	return nil
}

// readMboxLine returns the next line with its end, or a part of a long one.
func (b *mboxReader) readMboxLine() (line []byte, whole bool, err error) {
	line, err = b.r.ReadSlice('\n')
	b.pos += int64(len(line))
	if b.tail = append(b.tail, line...); len(b.tail) > 4*mboxProbeBytes+readBuffer {
		b.tail = append(b.tail[:0], b.tail[len(b.tail)-mboxProbeBytes:]...)
	}
	if errors.Is(err, bufio.ErrBufferFull) {
		return line, false, nil
	}
	if errors.Is(err, io.EOF) && b.pos < b.size {
		return line, true, localfile.ErrFileChanged // it was cut meanwhile
	}
	return line, true, err
}

// readMessageBody returns the lines of one message, and io.EOF where the next one begins.
func (b *mboxReader) readMessageBody() ([]byte, bool, error) {
	if b.next != nil || b.eof {
		return nil, false, io.EOF
	}
	line, whole, err := b.readMboxLine()
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
	if b.blank && !b.mid && beginsMessage(line) {
		b.next = bytes.Clone(line)
		return nil, false, io.EOF
	}
	b.blank = !b.mid && len(bytes.TrimRight(line, "\r\n")) == 0
	b.mid = !whole
	return line, whole, nil
}

// beginsMessage reports whether a line begins a message: From, a sender, and a time with a year.
func beginsMessage(line []byte) bool {
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
		clock = clock || len(word) >= 4 && len(word) <= 8 && strings.Count(word, ":") >= 1 &&
			strings.Trim(word, "0123456789:") == ""
		year = year || len(word) == 4 && strings.Trim(word, "0123456789") == "" && (word[0] == '1' || word[0] == '2')
	}
	return clock && year
}

// mboxFolder is what the file is called, without its ending.
func mboxFolder(rel string) string {
	rel = strings.TrimSuffix(strings.TrimSuffix(rel, ".mbox"), ".mbx")
	return strings.ToValidUTF8(rel, "\uFFFD")
}
