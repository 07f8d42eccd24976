package blob

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// How long files without references stay: one that was never committed, because its run may still commit it, and one
// that lost its last record, because the record may come back.
const (
	OrphanAge       = 24 * time.Hour
	UnreferencedAge = 30 * 24 * time.Hour
)

// Registry knows which files are referenced.
type Registry interface {
	// PruneBlobs deletes the rows of some files that no record has referred to since before.
	PruneBlobs(ctx context.Context, before time.Time) (done bool, err error)
	// UnknownBlobs returns those of the hashes that have no row.
	UnknownBlobs(ctx context.Context, hashes []string) ([]string, error)
	// LockUnknownBlob calls take if the file has no row, and prevents that one is added meanwhile.
	LockUnknownBlob(ctx context.Context, sha256 string, take func() error) error
}

// SweepResult counts what a sweep removed.
type SweepResult struct {
	Files int
	Bytes int64
}

// lookupBatch is how many files are looked up together.
const lookupBatch = 500

// Sweep removes files without references. A file is removed only after its row, and no row can be added meanwhile, so
// that referenced files always exist.
func Sweep(ctx context.Context, p Storage, known Registry, now time.Time) (swept SweepResult, err error) {
	for done := false; !done; {
		if done, err = known.PruneBlobs(ctx, now.Add(-UnreferencedAge)); err != nil {
			return swept, fmt.Errorf("prune files: %w", err)
		}
	}
	young := now.Add(-OrphanAge)
	var old []string
	look := func() error {
		orphans, err := known.UnknownBlobs(ctx, old)
		old = old[:0]
		if err != nil {
			return fmt.Errorf("look up files: %w", err)
		}
		for _, hash := range orphans {
			err := known.LockUnknownBlob(ctx, hash, func() error {
				e, err := p.Stat(ctx, hash)
				if errors.Is(err, ErrNotFound) || err == nil && !e.At.Before(young) {
					return nil // removed, or put again meanwhile
				}
				if err == nil {
					err = p.Remove(ctx, hash)
				}
				if err == nil {
					swept.Files++
					swept.Bytes += e.Bytes
				}
				return err
			})
			if err != nil {
				return fmt.Errorf("remove a file: %w", err)
			}
		}
		return nil
	}
	err = p.List(ctx, young, func(e StoredFile) error {
		if !e.At.Before(young) {
			return nil
		}
		if old = append(old, e.SHA256); len(old) == lookupBatch {
			return look()
		}
		return nil
	})
	if err == nil && len(old) > 0 {
		err = look()
	}
	return swept, err
}
