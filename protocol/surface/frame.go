package surface

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// MaxPayload bounds a frame. A full-size picture fits several times.
const MaxPayload = 1 << 20

const frameHeaderSize = 5

// FrameKind identifies the message in a frame.
type FrameKind byte

// Frames of the connector.
const (
	KindReady FrameKind = 1 + iota
	KindPicture
	KindPlace
	KindChoices
	KindDialog
	KindSettled
	KindClosed
)

// Frames to the connector.
const (
	KindView FrameKind = 65 + iota
	KindSeen
	KindInput
	KindChoose
	KindEnd
)

// Frame is one unit of the channel: one byte for the kind, four for the length of the payload in network order,
// and the payload.
type Frame struct {
	Kind    FrameKind
	Payload []byte
}

var (
	errTooLong   = fmt.Errorf("frame exceeds %d bytes", MaxPayload)
	errTruncated = errors.New("the channel ended within a frame")
)

// Write writes one frame with one call of w.Write.
func Write(w io.Writer, f Frame) error {
	if len(f.Payload) > MaxPayload {
		return errTooLong
	}
	b := make([]byte, frameHeaderSize, frameHeaderSize+len(f.Payload))
	b[0] = byte(f.Kind)
	binary.BigEndian.PutUint32(b[1:], uint32(len(f.Payload)))
	_, err := w.Write(append(b, f.Payload...))
	return err
}

// Send writes a message as a frame. If a value is out of bounds, it returns an error and writes nothing.
func Send(w io.Writer, m PageMessage) error {
	f, err := Encode(m)
	if err != nil {
		return err
	}
	return Write(w, f)
}

// Reader reads frames. It allocates no more memory than has arrived.
type Reader struct {
	r io.Reader
}

// NewReader returns a reader of frames from r, which need not be buffered.
func NewReader(r io.Reader) *Reader { return &Reader{r: r} }

// Next returns the next frame of any kind; the caller owns the payload. It returns io.EOF if the channel ends
// between two frames. After any error the channel is unusable.
func (r *Reader) Next() (Frame, error) {
	var head [frameHeaderSize]byte
	if _, err := io.ReadFull(r.r, head[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return Frame{}, errTruncated
		}
		return Frame{}, err
	}
	length := binary.BigEndian.Uint32(head[1:])
	if length > MaxPayload {
		return Frame{}, errTooLong
	}
	payload, err := io.ReadAll(io.LimitReader(r.r, int64(length)))
	if err != nil {
		return Frame{}, err
	}
	if len(payload) < int(length) {
		return Frame{}, errTruncated
	}
	return Frame{Kind: FrameKind(head[0]), Payload: payload}, nil
}
