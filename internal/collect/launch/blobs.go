package launch

import (
	"context"
	"fmt"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// Blobs configures where the files of records are stored, and how many bytes. Zero means the default, a negative
// number no limit.
type Blobs struct {
	Place          blob.Storage
	Each, Run, All int64 // bytes of one file, of a run's, and of all that are kept
}

// configure lets a run store files within the free space.
func (b Blobs) configure(ctx context.Context, spec *runner.Spec, st store.Blobs) error {
	if b.Place == nil {
		return nil
	}
	spec.Blobs, spec.BlobLimits = b.Place, runner.BlobLimits{Each: b.Each, Run: b.Run, Room: -1}
	if b.All <= 0 {
		return nil
	}
	_, used, err := st.BlobTotals(ctx)
	if err != nil {
		return fmt.Errorf("measure the files: %w", err)
	}
	spec.BlobLimits.Room = max(b.All-used, 1) // less would be no bound at all
	return nil
}
