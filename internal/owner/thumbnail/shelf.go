package thumbnail

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/pdpp-go/pdpp/protocol"
)

const (
	// mostKept bounds the folder.
	mostKept = 256 << 20
	// blockBytes is what a file takes at least, on most disks.
	blockBytes = 4 << 10
	// unusedAfter is how long an unused picture is stored.
	unusedAfter = 30 * 24 * time.Hour
	// failedFor is how long it is remembered that none could be made.
	failedFor = 24 * time.Hour
	// touchAfter is how exact the folder knows when one was last looked at.
	touchAfter = 24 * time.Hour
)

// shelf stores small pictures by the hash of their originals. An empty file means that none could be made.
type shelf struct {
	dir   string
	now   func() time.Time
	most  int64
	added atomic.Int64 // bytes, since the folder was last seen to be within its bound
}

func (s *shelf) path(hash string) string { return filepath.Join(s.dir, hash[:2], hash) }

// get returns a stored picture. If known is true and small is nil, no picture can be made.
func (s *shelf) get(hash string) (small []byte, known bool, err error) {
	if !protocol.IsBlobHash(hash) {
		return nil, true, nil
	}
	path := s.path(hash)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("look for a small picture: %w", err)
	}
	age := s.now().Sub(info.ModTime())
	if info.Size() == 0 {
		if age < failedFor {
			return nil, true, nil
		}
		return nil, false, nil
	}
	if small, err = os.ReadFile(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) { // it was swept
			return nil, false, nil
		}
		return nil, false, fmt.Errorf("read a small picture: %w", err)
	}
	if age > touchAfter {
		_ = os.Chtimes(path, s.now(), s.now()) // at the worst it is made again
	}
	return small, true, nil
}

// put keeps a picture, or that there is none, whole or not at all. What is thrown away by a
// machine that loses its power is made again.
func (s *shelf) put(hash string, small []byte) error {
	path := s.path(hash)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the folder of small pictures: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "new-")
	if err != nil {
		return fmt.Errorf("begin a small picture: %w", err)
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // it has another name when all went well
	_, err = tmp.Write(small)
	if err = errors.Join(err, tmp.Close()); err != nil {
		return fmt.Errorf("write a small picture: %w", err)
	}
	now := s.now()
	if err := os.Chtimes(tmp.Name(), now, now); err != nil {
		return fmt.Errorf("write a small picture: %w", err)
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return fmt.Errorf("name a small picture: %w", err)
	}
	if s.added.Add(onDisk(int64(len(small)))) > s.most/8 {
		s.added.Store(0)
		return s.shrink()
	}
	return nil
}

func onDisk(bytes int64) int64 { return max(bytes, blockBytes) }

// kept is a file of the folder.
type kept struct {
	path, hash string
	bytes      int64
	at         time.Time
}

// list returns the files of the folder, the most recently used first. It deletes unfinished files.
func (s *shelf) list() (all []kept, err error) {
	err = filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // another process sweeps too
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		k := kept{path, d.Name(), onDisk(info.Size()), info.ModTime()}
		if !protocol.IsBlobHash(k.hash) {
			if s.now().Sub(k.at) > time.Hour {
				return os.Remove(path)
			}
			return nil
		}
		all = append(all, k)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the small pictures: %w", err)
	}
	slices.SortFunc(all, func(a, b kept) int { return b.at.Compare(a.at) })
	return all, nil
}

// shrink deletes pictures that were not used for a long time, and the least recently used ones beyond the size limit.
func (s *shelf) shrink() error {
	all, err := s.list()
	if err != nil {
		return err
	}
	var sum int64
	for _, k := range all {
		if sum += k.bytes; sum > s.most || s.now().Sub(k.at) > unusedAfter {
			if err := remove(k.path); err != nil {
				return err
			}
		}
	}
	return nil
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove a small picture: %w", err)
	}
	return nil
}

// Known is what a database knows of files.
type Known interface {
	// UnknownBlobs returns the hashes that the database does not know.
	UnknownBlobs(ctx context.Context, hashes []string) ([]string, error)
}

// askedAtOnce is for how many files the database is asked in one question.
const askedAtOnce = 500

// Sweep deletes small pictures of deleted files, pictures that were not used for a long time, and those beyond the
// folder's size limit.
func (m *Maker) Sweep(ctx context.Context, known Known) error {
	if err := m.kept.shrink(); err != nil {
		return err
	}
	all, err := m.kept.list()
	if err != nil {
		return err
	}
	for part := range slices.Chunk(all, askedAtOnce) {
		at, hashes := map[string]string{}, []string(nil)
		for _, k := range part {
			at[k.hash] = k.path
			hashes = append(hashes, k.hash)
		}
		gone, err := known.UnknownBlobs(ctx, hashes)
		if err != nil {
			return fmt.Errorf("ask which pictures are gone: %w", err)
		}
		for _, hash := range gone {
			if err := remove(at[hash]); err != nil {
				return err
			}
		}
	}
	return nil
}

// Remove removes the small picture of a file from a folder, if it is there.
func Remove(folder, sha256 string) error {
	if len(sha256) < 2 {
		return nil
	}
	return remove((&shelf{dir: folder}).path(sha256))
}
