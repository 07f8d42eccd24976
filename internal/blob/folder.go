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
	"time"

	"github.com/pdpp-go/pdpp/protocol"
)

// FolderStorage stores files on a disk: ab/abcdef... below Dir, and unfinished files in tmp. Several machines may
// share it. The folder is created with the first file.
type FolderStorage struct{ Dir string }

var _ Storage = FolderStorage{}

const (
	unfinishedFolder = "tmp" // not a prefix of a hash
	copyBufferSize   = 256 << 10
)

func (f FolderStorage) blobPath(hash string) (string, error) {
	if !protocol.IsBlobHash(hash) {
		return "", ErrNotFound
	}
	return filepath.Join(f.Dir, hash[:2], hash), nil
}

func (f FolderStorage) Put(ctx context.Context, r io.Reader) (hash string, n int64, err error) {
	if err := os.MkdirAll(filepath.Join(f.Dir, unfinishedFolder), 0o700); err != nil {
		return "", 0, fmt.Errorf("make the folder of files: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Join(f.Dir, unfinishedFolder), "put-")
	if err != nil {
		return "", 0, fmt.Errorf("begin a file: %w", err)
	}
	defer func() {
		_ = tmp.Close()
		_ = os.Remove(tmp.Name()) // fails harmlessly after the rename
	}()
	sum := sha256.New()
	n, err = io.CopyBuffer(writerOnly{io.MultiWriter(tmp, sum)}, contextReader{ctx, r}, make([]byte, copyBufferSize))
	if err != nil {
		return "", 0, fmt.Errorf("copy a file: %w", err)
	}
	hash = hex.EncodeToString(sum.Sum(nil))
	if err := tmp.Sync(); err != nil {
		return "", 0, fmt.Errorf("write a file out: %w", err)
	}
	return hash, n, f.adoptFile(tmp.Name(), hash)
}

// adoptFile renames a complete file on the same disk to its hash. An existing file has the same content and is
// replaced.
func (f FolderStorage) adoptFile(tmp, hash string) error {
	path, err := f.blobPath(hash)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	switch err := os.Mkdir(dir, 0o700); {
	case err == nil:
		if err := syncDir(f.Dir); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrExist):
		return fmt.Errorf("make the folder of a file: %w", err)
	}
	if err := os.Rename(tmp, path); err != nil {
		return fmt.Errorf("name a file: %w", err)
	}
	return syncDir(dir)
}

func (f FolderStorage) Open(_ context.Context, hash string) (File, error) {
	path, err := f.blobPath(hash)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("open a file: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("measure a file: %w", err)
	}
	return folderFile{file, info.Size()}, nil
}

type folderFile struct {
	*os.File
	size int64
}

func (f folderFile) Bytes() int64 { return f.size }

func (f FolderStorage) Stat(_ context.Context, hash string) (StoredFile, error) {
	path, err := f.blobPath(hash)
	if err != nil {
		return StoredFile{}, err
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return StoredFile{}, ErrNotFound
	}
	if err != nil {
		return StoredFile{}, fmt.Errorf("measure a file: %w", err)
	}
	return StoredFile{SHA256: hash, Bytes: info.Size(), At: info.ModTime()}, nil
}

func (f FolderStorage) Remove(_ context.Context, hash string) error {
	path, err := f.blobPath(hash)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove a file: %w", err)
	}
	return nil
}

func (f FolderStorage) List(ctx context.Context, before time.Time, use func(StoredFile) error) error {
	dirs, err := os.ReadDir(f.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list the files: %w", err)
	}
	for _, d := range dirs {
		if !d.IsDir() {
			continue
		}
		err := eachFile(ctx, filepath.Join(f.Dir, d.Name()), func(path string, info fs.FileInfo) error {
			if d.Name() == unfinishedFolder {
				if info.ModTime().Before(before) {
					return os.Remove(path)
				}
				return nil
			}
			if !protocol.IsBlobHash(info.Name()) || info.Name()[:2] != d.Name() {
				return nil // not one of our files
			}
			return use(StoredFile{SHA256: info.Name(), Bytes: info.Size(), At: info.ModTime()})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// eachFile reads a folder in parts, so that a large one does not fill the memory.
func eachFile(ctx context.Context, dir string, use func(path string, info fs.FileInfo) error) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("list the files: %w", err)
	}
	defer func() { _ = d.Close() }()
	for {
		names, err := d.ReadDir(1000)
		if errors.Is(err, io.EOF) || err == nil && len(names) == 0 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("list the files: %w", err)
		}
		for _, n := range names {
			if err := ctx.Err(); err != nil {
				return err
			}
			info, err := n.Info()
			if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
				continue // removed meanwhile, or not one of our files
			}
			if err == nil {
				err = use(filepath.Join(dir, n.Name()), info)
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
}

// NewContextReader returns a reader that fails once ctx has ended.
func NewContextReader(ctx context.Context, r io.Reader) io.Reader { return contextReader{ctx, r} }

type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r contextReader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(b)
}

// writerOnly hides other methods of the writer, so that io.CopyBuffer uses its buffer.
type writerOnly struct{ io.Writer }
