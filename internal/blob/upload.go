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

// UploadStorage receives files in pieces from senders that know the hash in advance. Uploads are separate per sender,
// so that a sender learns nothing about the files of others.
type UploadStorage interface {
	// UploadProgress returns how much of a file a sender has sent, and whether the whole file is stored.
	UploadProgress(ctx context.Context, sender, sha256 string) (bytes int64, whole bool, err error)
	// ReceivePiece stores the piece of a file that begins at offset, up to the end of r, and returns the new
	// progress. What arrived before an error of r stays.
	ReceivePiece(ctx context.Context, sender, sha256 string, total, offset int64, r io.Reader) (bytes int64, whole bool,
		err error)
}

var (
	// ErrWrongOffset means that a piece does not start where the file ends so far.
	ErrWrongOffset = errors.New("the piece does not begin where the file ends")
	// ErrContentMismatch means that a file does not match its hash. The upload starts over.
	ErrContentMismatch = errors.New("the file does not match its hash")
)

var _ UploadStorage = FolderStorage{}

// uploadPath returns where the pieces of a sender's file are joined. Once the file is stored, an empty file next to
// it proves that the sender had it. Both are removed by age, like everything unfinished.
func (f FolderStorage) uploadPrefix(sender, hash string) (path string, err error) {
	if !protocol.IsBlobHash(hash) {
		return "", ErrNotFound
	}
	who := sha256.Sum256([]byte(sender))
	return filepath.Join(f.Dir, unfinishedFolder, "upload-"+hex.EncodeToString(who[:12])+"-"+hash), nil
}

const proofSuffix = ".kept"

func (f FolderStorage) UploadProgress(ctx context.Context, sender, hash string) (int64, bool, error) {
	path, err := f.uploadPrefix(sender, hash)
	if err != nil {
		return 0, false, err
	}
	if _, err := os.Lstat(path + proofSuffix); err == nil {
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

func (f FolderStorage) ReceivePiece(
	ctx context.Context, sender, hash string, total, offset int64, r io.Reader,
) (int64, bool, error) {
	path, err := f.uploadPrefix(sender, hash)
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
		return have, false, ErrWrongOffset
	}
	n, err := io.CopyBuffer(writerOnly{part}, contextReader{ctx, io.LimitReader(r, total-offset)},
		make([]byte, copyBufferSize))
	if have += n; err != nil {
		return have, false, fmt.Errorf("receive a piece: %w", err)
	}
	if have < total {
		return have, false, nil
	}
	return have, true, f.finishUpload(part, path, hash)
}

// finishUpload stores a completed upload if it matches its hash.
func (f FolderStorage) finishUpload(part *os.File, path, hash string) error {
	if _, err := part.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read an upload: %w", err)
	}
	sum := sha256.New()
	if _, err := io.CopyBuffer(writerOnly{sum}, part, make([]byte, copyBufferSize)); err != nil {
		return fmt.Errorf("read an upload: %w", err)
	}
	if hex.EncodeToString(sum.Sum(nil)) != hash {
		return errors.Join(ErrContentMismatch, os.Remove(path))
	}
	if err := part.Sync(); err != nil {
		return fmt.Errorf("write a file out: %w", err)
	}
	if err := os.WriteFile(path+proofSuffix, nil, 0o600); err != nil {
		return fmt.Errorf("record an upload: %w", err)
	}
	return f.adoptFile(path, hash)
}
