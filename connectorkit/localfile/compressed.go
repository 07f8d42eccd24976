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
func (r *sourceReader) readCompressed(ctx context.Context, f *foundFile, e *fileEntry, h *os.File) error {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow),
		zstd.WithDecoderLowmem(true))
	if err != nil {
		return err
	}
	defer dec.Close()
	open := func() error { return dec.Reset(io.NewSectionReader(h, 0, e.Size)) }
	if err := open(); err != nil {
		return errors.Join(errFileDamaged, err)
	}
	start := int64(0)
	ring := &tailRing{}
	if old := f.entry; old != nil && old.canResume() {
		if _, err := io.CopyN(ring, dec, old.Offset); err == nil &&
			shortHash(ring.first[:min(probeBytes, old.Offset)]) == old.Head &&
			ring.hashBefore(old.Offset) == old.Tail {
			start, e.State = old.Offset, old.State
		} else {
			*ring = tailRing{}
			if err := open(); err != nil {
				return errors.Join(errFileDamaged, err)
			}
		}
	}
	src := &lineContent{
		Reader: io.TeeReader(decodedContent{dec}, ring),
		hash: func(from, n int64) string {
			if from == 0 {
				return shortHash(ring.first[:n])
			}
			return ring.hashBefore(from + n)
		},
		check: func() error { return nil },
	}
	return r.scanLines(ctx, f, e, src, start)
}

// decodedContent distinguishes damage of the compressed form from the end of the content.
type decodedContent struct{ r io.Reader }

func (d decodedContent) Read(b []byte) (int, error) {
	n, err := d.r.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = errors.Join(errFileDamaged, err)
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

const ringSize = probeBytes + bufferSize + probeBytes

func (r *tailRing) Write(b []byte) (int, error) {
	if miss := probeBytes - len(r.first); miss > 0 {
		r.first = append(r.first, b[:min(miss, len(b))]...)
	}
	r.n += int64(len(b))
	r.last = append(r.last, b...)
	if len(r.last) > 2*ringSize {
		r.last = append(r.last[:0], r.last[len(r.last)-ringSize:]...)
	}
	return len(b), nil
}

// hashBefore is the hash of the piece before an offset; empty when it has passed out of reach.
func (r *tailRing) hashBefore(offset int64) string {
	n := min(probeBytes, offset)
	from := int64(len(r.last)) - (r.n - offset) - n
	if from < 0 || offset > r.n {
		return ""
	}
	return shortHash(r.last[from : from+n])
}
