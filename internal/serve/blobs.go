package serve

import (
	"context"
	"time"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/owner/service"
)

// sweepEvery is how often files are looked for that nothing refers to.
const sweepEvery = 6 * time.Hour

// sweepBlobs takes away files that nothing refers to, for as long as the process runs. Several
// workers may do so at once.
func (s *process) sweepBlobs(ctx context.Context) {
	for s.Blobs.Place != nil {
		swept, err := blob.Sweep(ctx, s.Blobs.Place, s.Store, s.Now())
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.Log.WarnContext(ctx, "files that nothing refers to could not be taken away; it is tried again", "error", err)
		case swept.Files > 0:
			s.Log.InfoContext(ctx, "files that nothing refers to were taken away", "files", swept.Files, "bytes", swept.Bytes)
		}
		if !untilNextSweep(ctx) {
			return
		}
	}
}

// sweepThumbnails deletes thumbnails of deleted files and unused ones, for as long as the process runs.
func (s *process) sweepThumbnails(ctx context.Context) {
	for untilNextSweep(ctx) {
		if err := s.Thumbnails.Sweep(ctx, s.Store); err != nil && ctx.Err() == nil {
			s.Log.WarnContext(ctx, "small pictures could not be swept; it is tried again", "error", err)
		}
	}
}

// sweepUploads deletes abandoned chunked uploads, for as long as the process runs.
func (s *process) sweepUploads(ctx context.Context, owner *service.Service) {
	for untilNextSweep(ctx) {
		if err := owner.SweepUploads(ctx); err != nil && ctx.Err() == nil {
			s.Log.WarnContext(ctx, "unfinished uploads could not be swept; it is tried again", "error", err)
		}
	}
}

// untilNextSweep waits; it returns false when the process ends.
func untilNextSweep(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(sweepEvery):
		return true
	}
}
