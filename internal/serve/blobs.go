package serve

import (
	"context"
	"time"

	"pdpp/internal/blob"
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
		select {
		case <-ctx.Done():
			return
		case <-time.After(sweepEvery):
		}
	}
}
