package localfile

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// maxWindow bounds the memory that decoding takes.
const maxWindow = 32 << 20

// readCompressed decodes the file as a whole; what is known of it already is passed over.
func (r *reader) readCompressed(ctx context.Context, f *found, e *entry, h *os.File) error {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow),
		zstd.WithDecoderLowmem(true))
	if err != nil {
		return err
	}
	defer dec.Close()
	open := func() error { return dec.Reset(io.NewSectionReader(h, 0, e.Size)) }
	if err := open(); err != nil {
		return errors.Join(errDamaged, err)
	}
	start := int64(0)
	ring := &tailRing{}
	if old := f.entry; old != nil && old.resumable() {
		if _, err := io.CopyN(ring, dec, old.Offset); err == nil && hashOf(ring.first[:min(probe, old.Offset)]) == old.Head &&
			ring.tail(old.Offset) == old.Tail {
			start, e.State = old.Offset, old.State
		} else {
			*ring = tailRing{}
			if err := open(); err != nil {
				return errors.Join(errDamaged, err)
			}
		}
	}
	src := &content{
		Reader: io.TeeReader(decoded{dec}, ring),
		hash: func(from, n int64) string {
			if from == 0 {
				return hashOf(ring.first[:n])
			}
			return ring.tail(from + n)
		},
		check: func() error { return nil },
	}
	return r.scan(ctx, f, e, src, start)
}

// decoded distinguishes damage of the compressed form from the end of the content.
type decoded struct{ r io.Reader }

func (d decoded) Read(b []byte) (int, error) {
	n, err := d.r.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = errors.Join(errDamaged, err)
	}
	return n, err
}

// tailRing keeps the beginning of what passes, and enough of its end to hash the piece before
// the last line.
type tailRing struct {
	first []byte
	last  []byte
	n     int64
}

const ringSize = probe + bufferSize + probe

func (r *tailRing) Write(b []byte) (int, error) {
	if miss := probe - len(r.first); miss > 0 {
		r.first = append(r.first, b[:min(miss, len(b))]...)
	}
	r.n += int64(len(b))
	r.last = append(r.last, b...)
	if len(r.last) > 2*ringSize {
		r.last = append(r.last[:0], r.last[len(r.last)-ringSize:]...)
	}
	return len(b), nil
}

// tail is the hash of the piece before an offset; empty when it has passed out of reach.
func (r *tailRing) tail(offset int64) string {
	n := min(probe, offset)
	from := int64(len(r.last)) - (r.n - offset) - n
	if from < 0 || offset > r.n {
		return ""
	}
	return hashOf(r.last[from : from+n])
}
