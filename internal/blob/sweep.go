package blob

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// How long files stay that nothing refers to: one that was never committed, because its run may
// still do so, and one whose last record is gone, because the record may come back.
const (
	OrphanAge       = 24 * time.Hour
	UnreferencedAge = 30 * 24 * time.Hour
)

// Registry knows which files are referred to.
type Registry interface {
	// ForgetBlobs forgets some files that no record has referred to since before.
	ForgetBlobs(ctx context.Context, before time.Time) (done bool, err error)
	// UnknownBlobs gives those of the hashes that are not known.
	UnknownBlobs(ctx context.Context, hashes []string) ([]string, error)
	// WithoutBlob calls take if no file of this content is known, and keeps it from becoming
	// known meanwhile.
	WithoutBlob(ctx context.Context, sha256 string, take func() error) error
}

// Swept counts what a sweep took away.
type Swept struct {
	Files int
	Bytes int64
}

// lookAtOnce is how many files are looked up together.
const lookAtOnce = 500

// Sweep takes away what nothing refers to any more. A file goes only after its row, and no row
// comes back while it goes, so that at every moment what a record refers to is there.
func Sweep(ctx context.Context, p Place, known Registry, now time.Time) (swept Swept, err error) {
	for done := false; !done; {
		if done, err = known.ForgetBlobs(ctx, now.Add(-UnreferencedAge)); err != nil {
			return swept, fmt.Errorf("forget files: %w", err)
		}
	}
	young := now.Add(-OrphanAge)
	var old []string
	look := func() error {
		orphans, err := known.UnknownBlobs(ctx, old)
		old = old[:0]
		if err != nil {
			return fmt.Errorf("look files up: %w", err)
		}
		for _, hash := range orphans {
			err := known.WithoutBlob(ctx, hash, func() error {
				e, err := p.Stat(ctx, hash)
				if errors.Is(err, ErrNotFound) || err == nil && !e.At.Before(young) {
					return nil // it is gone, or was put again meanwhile
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
				return fmt.Errorf("take a file away: %w", err)
			}
		}
		return nil
	}
	err = p.List(ctx, young, func(e Entry) error {
		if !e.At.Before(young) {
			return nil
		}
		if old = append(old, e.SHA256); len(old) == lookAtOnce {
			return look()
		}
		return nil
	})
	if err == nil && len(old) > 0 {
		err = look()
	}
	return swept, err
}
