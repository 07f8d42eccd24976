package serve

import (
	"context"
	"path/filepath"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/service"
	"github.com/pdpp-go/pdpp/internal/owner/thumbnail"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
)

const (
	// deletionTime is how long a request of the owner works on a deletion itself.
	deletionTime = time.Second
	// deletionEvery is how often a process looks for deletions that have work, and deletionPause lets others
	// write between two steps.
	deletionEvery = 2 * time.Second
	deletionPause = 5 * time.Millisecond
	// deletionRetry is the pause after a step that failed.
	deletionRetry = time.Minute
)

// forgetPicture removes the small picture of a file.
func (s *process) forgetPicture(sha256 string) error {
	return thumbnail.Remove(filepath.Join(s.Home, "thumbnails"), sha256)
}

// deletions works on what the owner deleted, step by step, for as long as the process runs.
func (s *process) deletions(ctx context.Context) {
	owner := service.New(service.Config{Store: s.Store, Connectors: s.Connectors,
		Key:  func() (credential.Key, error) { return s.Key, nil },
		Home: s.Home, Files: s.Blobs.Place, Now: s.Now, Lookup: s.Lookup, ForgetPicture: s.forgetPicture})
	for {
		idle, err := owner.WorkOnDeletions(ctx)
		pause := deletionPause
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.Log.WarnContext(ctx, "a deletion could not be carried on; it is tried again", "error", err)
			pause = deletionRetry
		case idle:
			pause = deletionEvery
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}
