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
	Size     int64  // as declared by the archive
	Modified time.Time

	folder, unsafe, encrypted bool
	sum                       uint64
	open                      func() (io.ReadCloser, error)
}

// memberArchive is anything that holds members in an order that stays the same.
type memberArchive interface {
	walkMembers(ctx context.Context, each func(*Entry) error) error
}

// openArchive looks what a file is by its first bytes; nil when it is no archive.
func openArchive(h io.ReaderAt, size int64) (memberArchive, error) {
	head := make([]byte, min(size, 512))
	if _, err := h.ReadAt(head, 0); err != nil {
		return nil, fmt.Errorf("read the beginning of the file: %w", err)
	}
	switch {
	case hasZipHeader(head):
		return openZip(h, size)
	case hasGzipHeader(head):
		return &tarFile{h, size, true}, nil
	case hasTarHeader(head):
		return &tarFile{h, size, false}, nil
	}
	return nil, nil
}

// isSafeName reports whether a name stays within its archive on any system.
func isSafeName(name string) bool {
	slashed := strings.ReplaceAll(name, `\`, "/")
	if slashed == "" || strings.HasPrefix(slashed, "/") || len(slashed) > 1 && slashed[1] == ':' ||
		strings.ContainsRune(slashed, 0) {
		return false
	}
	for _, segment := range strings.Split(slashed, "/") {
		if segment == ".." {
			return false
		}
	}
	return true
}

// isSystemFile reports whether a system put the member there, not the export.
func isSystemFile(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(name, "__MACOSX/") || strings.Contains(name, "/__MACOSX/") || base == ".DS_Store" ||
		base == "Thumbs.db" || base == "desktop.ini"
}

// isNestedArchive reports whether a member is an archive by its name.
func isNestedArchive(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".zip", ".tgz", ".tar", ".7z", ".rar":
		return true
	}
	return strings.HasSuffix(strings.ToLower(name), ".tar.gz")
}

// archiveDigest identifies the content of an archive: a zip by the names, sizes and checksums that
// its directory has; a tar by its compressed form, which ends with a checksum of everything: by its
// size and both ends; any other file by all of its bytes.
func archiveDigest(ctx context.Context, a memberArchive, h io.ReaderAt, size int64) (string, error) {
	sum := sha256.New()
	z, isZip := a.(*zipFile)
	switch {
	case isZip && !z.torn:
		var n [16]byte
		err := z.walkMembers(ctx, func(e *Entry) error {
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
		if _, err := io.Copy(sum, contextReader{ctx, io.NewSectionReader(h, 0, size)}); err != nil {
			return "", fmt.Errorf("read the file: %w", err)
		}
	}
	return base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:12]), nil
}
