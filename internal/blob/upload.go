package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pdpp-go/pdpp/protocol"
)

// Uploads takes files in pieces, from senders that know beforehand what they hold. What a sender has
// brought is its own: that somebody else brought the same content says nothing to it.
type Uploads interface {
	// Received tells how much of a file has come from a sender, and whether all of it is kept.
	Received(ctx context.Context, sender, sha256 string) (bytes int64, whole bool, err error)
	// Receive takes the piece of a file that begins at offset, to the end of r, and tells what
	// Received tells after it. What came before an error of r stays.
	Receive(ctx context.Context, sender, sha256 string, total, offset int64, r io.Reader) (bytes int64, whole bool, err error)
}

var (
	// ErrOffset says that a piece does not begin where the file ends so far.
	ErrOffset = errors.New("the piece does not begin where the file ends")
	// ErrContent says that a file holds something else than its sender said. It begins anew.
	ErrContent = errors.New("the file does not hold what its sender said")
)

var _ Uploads = Folder{}

// upload is where the pieces of a sender's file are put together. Beside it, once the file is kept, an
// empty one stays as the proof that the sender had it. Both go by age, as all that is unfinished.
func (f Folder) upload(sender, hash string) (path string, err error) {
	if !protocol.IsBlobHash(hash) {
		return "", ErrNotFound
	}
	who := sha256.Sum256([]byte(sender))
	return filepath.Join(f.Dir, unfinished, "upload-"+hex.EncodeToString(who[:12])+"-"+hash), nil
}

const proof = ".kept"

func (f Folder) Received(ctx context.Context, sender, hash string) (int64, bool, error) {
	path, err := f.upload(sender, hash)
	if err != nil {
		return 0, false, err
	}
	if _, err := os.Lstat(path + proof); err == nil {
		if e, err := f.Stat(ctx, hash); err == nil {
			return e.Bytes, true, nil
		}
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("measure an upload: %w", err)
	}
	return info.Size(), false, nil
}

func (f Folder) Receive(ctx context.Context, sender, hash string, total, offset int64, r io.Reader) (int64, bool, error) {
	path, err := f.upload(sender, hash)
	if err != nil {
		return 0, false, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return 0, false, fmt.Errorf("make the folder of files: %w", err)
	}
	part, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return 0, false, fmt.Errorf("open an upload: %w", err)
	}
	defer func() { _ = part.Close() }()
	info, err := part.Stat()
	if err != nil {
		return 0, false, fmt.Errorf("measure an upload: %w", err)
	}
	have := info.Size()
	if have != offset || total < offset {
		return have, false, ErrOffset
	}
	n, err := io.CopyBuffer(onlyWriter{part}, readerWith{ctx, io.LimitReader(r, total-offset)}, make([]byte, copyBuffer))
	if have += n; err != nil {
		return have, false, fmt.Errorf("take a piece: %w", err)
	}
	if have < total {
		return have, false, nil
	}
	return have, true, f.settle(part, path, hash)
}

// settle keeps an upload that has come to its end, if it is what it was said to be.
func (f Folder) settle(part *os.File, path, hash string) error {
	if _, err := part.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read an upload: %w", err)
	}
	sum := sha256.New()
	if _, err := io.CopyBuffer(onlyWriter{sum}, part, make([]byte, copyBuffer)); err != nil {
		return fmt.Errorf("read an upload: %w", err)
	}
	if hex.EncodeToString(sum.Sum(nil)) != hash {
		return errors.Join(ErrContent, os.Remove(path))
	}
	if err := part.Sync(); err != nil {
		return fmt.Errorf("write a file out: %w", err)
	}
	if err := os.WriteFile(path+proof, nil, 0o600); err != nil {
		return fmt.Errorf("note an upload: %w", err)
	}
	return f.adopt(path, hash)
}
