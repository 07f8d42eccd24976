package surface

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// MaxPayload bounds a frame: a picture in full size fits several times.
const MaxPayload = 1 << 20

const headSize = 5

// Kind says what a frame holds.
type Kind byte

// Frames of the connector.
const (
	KindReady Kind = 1 + iota
	KindPicture
	KindPlace
	KindChoices
	KindDialog
	KindSettled
	KindClosed
)

// Frames to the connector.
const (
	KindView Kind = 65 + iota
	KindSeen
	KindInput
	KindChoose
	KindEnd
)

// Frame is one unit of the channel: a byte for the kind, four for the length of the
// payload in network order, and the payload.
type Frame struct {
	Kind    Kind
	Payload []byte
}

var (
	errTooLong = fmt.Errorf("frame exceeds %d bytes", MaxPayload)
	errCut     = errors.New("the channel ended within a frame")
)

// Write sends one frame with one call of w.
func Write(w io.Writer, f Frame) error {
	if len(f.Payload) > MaxPayload {
		return errTooLong
	}
	b := make([]byte, headSize, headSize+len(f.Payload))
	b[0] = byte(f.Kind)
	binary.BigEndian.PutUint32(b[1:], uint32(len(f.Payload)))
	_, err := w.Write(append(b, f.Payload...))
	return err
}

// Send writes a message as a frame. A message outside its bounds is an error and sends nothing.
func Send(w io.Writer, m Message) error {
	f, err := Encode(m)
	if err != nil {
		return err
	}
	return Write(w, f)
}

// Reader reads frames. It takes no more memory for one than has arrived of it.
type Reader struct {
	r io.Reader
}

// NewReader reads frames from r, which need not be buffered.
func NewReader(r io.Reader) *Reader { return &Reader{r: r} }

// Next gives the next frame, whatever its kind; the payload is the caller's. The end of
// the channel between two frames is io.EOF. After any error the channel is of no more use.
func (r *Reader) Next() (Frame, error) {
	var head [headSize]byte
	if _, err := io.ReadFull(r.r, head[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return Frame{}, errCut
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
		return Frame{}, errCut
	}
	return Frame{Kind: Kind(head[0]), Payload: payload}, nil
}
