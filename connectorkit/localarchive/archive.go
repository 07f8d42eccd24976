package localarchive

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"path"
	"strings"
	"time"
)

// Entry is a member of an archive.
type Entry struct {
	Name     string // with slashes, as the archive has it
	Size     int64  // as the archive says
	Modified time.Time

	folder, unsafe, encrypted bool
	sum                       uint64
	open                      func() (io.ReadCloser, error)
}

// archive is anything that holds members in an order that stays the same.
type archive interface {
	walk(ctx context.Context, each func(*Entry) error) error
}

// archiveOf looks what a file is by its first bytes; nil when it is no archive.
func archiveOf(h io.ReaderAt, size int64) (archive, error) {
	head := make([]byte, min(size, 512))
	if _, err := h.ReadAt(head, 0); err != nil {
		return nil, fmt.Errorf("read the beginning of the file: %w", err)
	}
	switch {
	case isZip(head):
		return openZip(h, size)
	case isGzip(head):
		return &tarFile{h, size, true}, nil
	case isTar(head):
		return &tarFile{h, size, false}, nil
	}
	return nil, nil
}

// safe reports whether a name stays within its archive on any system.
func safe(name string) bool {
	slashed := strings.ReplaceAll(name, `\`, "/")
	if slashed == "" || strings.HasPrefix(slashed, "/") || len(slashed) > 1 && slashed[1] == ':' || strings.ContainsRune(slashed, 0) {
		return false
	}
	for _, segment := range strings.Split(slashed, "/") {
		if segment == ".." {
			return false
		}
	}
	return true
}

// litter reports whether a system put the member there, not the export.
func litter(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(name, "__MACOSX/") || strings.Contains(name, "/__MACOSX/") || base == ".DS_Store" || base == "Thumbs.db" || base == "desktop.ini"
}

// nested reports whether a member is an archive by its name.
func nested(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".zip", ".tgz", ".tar", ".7z", ".rar":
		return true
	}
	return strings.HasSuffix(strings.ToLower(name), ".tar.gz")
}

// digestOf identifies the content of an archive: a zip by the names, sizes and checksums that
// its directory has; a tar, whose compressed form ends with a checksum of everything, by its
// size and both ends; any other file by all of its bytes.
func digestOf(ctx context.Context, a archive, h io.ReaderAt, size int64) (string, error) {
	sum := sha256.New()
	z, isZip := a.(*zipFile)
	switch {
	case isZip && !z.torn:
		var n [16]byte
		err := z.walk(ctx, func(e *Entry) error {
			binary.LittleEndian.PutUint64(n[:], uint64(e.Size))
			binary.LittleEndian.PutUint64(n[8:], e.sum)
			_, _ = io.WriteString(sum, e.Name+"\x00") // a hash never fails
			_, _ = sum.Write(n[:])
			return nil
		})
		if err != nil {
			return "", err
		}
	case a != nil:
		const ends = 64 << 10
		_, _ = fmt.Fprintf(sum, "%d\x00", size) // a hash never fails
		for _, from := range []int64{0, max(0, size-ends)} {
			if _, err := io.Copy(sum, io.NewSectionReader(h, from, ends)); err != nil {
				return "", fmt.Errorf("read the file: %w", err)
			}
		}
	default:
		if _, err := io.Copy(sum, untilDone{ctx, io.NewSectionReader(h, 0, size)}); err != nil {
			return "", fmt.Errorf("read the file: %w", err)
		}
	}
	return base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:12]), nil
}
