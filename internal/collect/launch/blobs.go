package launch

import (
	"context"
	"fmt"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// Blobs says where the files of records are kept, and how much of them. Zero means the default,
// and less none.
type Blobs struct {
	Place          blob.Place
	Each, Run, All int64 // bytes of one file, of a run's, and of all that are kept
}

// give lets a run keep files, as far as there is room.
func (b Blobs) give(ctx context.Context, spec *runner.Spec, st store.Blobs) error {
	if b.Place == nil {
		return nil
	}
	spec.Blobs, spec.BlobLimits = b.Place, runner.BlobLimits{Each: b.Each, Run: b.Run, Room: -1}
	if b.All <= 0 {
		return nil
	}
	_, used, err := st.BlobUse(ctx)
	if err != nil {
		return fmt.Errorf("measure the files: %w", err)
	}
	spec.BlobLimits.Room = max(b.All-used, 1) // less would be no bound at all
	return nil
}
