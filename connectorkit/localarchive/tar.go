package localarchive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// tarFile is a tar, compressed or not. Its members can be read in their order only.
type tarFile struct {
	h      io.ReaderAt
	size   int64
	packed bool
}

func hasTarHeader(head []byte) bool {
	return len(head) >= 263 && bytes.Equal(head[257:262], []byte("ustar"))
}

func hasGzipHeader(head []byte) bool { return bytes.HasPrefix(head, []byte{0x1f, 0x8b}) }

func (t *tarFile) walkMembers(ctx context.Context, each func(*Entry) error) error {
	var in io.Reader = io.NewSectionReader(t.h, 0, t.size)
	if t.packed {
		unpacked, err := gzip.NewReader(in)
		if err != nil {
			return damagedMember("read the archive: %w", err)
		}
		defer unpacked.Close()
		in = unpacked
	}
	tr := tar.NewReader(in)
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return damagedMember("read the archive: %w", err)
		}
		name := strings.ToValidUTF8(h.Name[:min(len(h.Name), maxNameBytes)], "\uFFFD")
		regular := h.Typeflag == tar.TypeReg
		e := &Entry{
			Name: name, Size: h.Size, Modified: h.ModTime.UTC(), folder: h.Typeflag == tar.TypeDir, unsafe: !regular &&
				h.Typeflag != tar.TypeDir,
			sum: math.MaxUint64, open: func() (io.ReadCloser, error) { return io.NopCloser(tarContent{tr}), nil },
		}
		if h.Typeflag == tar.TypeXGlobalHeader {
			continue
		}
		if err := each(e); err != nil {
			return err
		}
	}
}

// tarContent distinguishes damage of the archive from the end of a member.
type tarContent struct{ r io.Reader }

func (c tarContent) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return n, err
}
