package deviceapi

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// TestUploadFault holds which failures of a commit a device may try again: storage that may be there later, and
// no answer that would be the same.
func TestUploadFault(t *testing.T) {
	for err, want := range map[error]string{
		store.ErrUploaderGone: wire.CodeSourceUnknown, store.ErrCursorAhead: wire.CodeCheckpointAhead,
		&store.ActiveRunError{RunID: "r"}: wire.CodeIngestRetryable, errors.New("disk I/O error"): wire.CodeIngestRetryable,
		store.ErrNotFound: "", context.DeadlineExceeded: wire.CodeIngestRetryable,
	} {
		var f *usererr.Error
		got := ""
		if errors.As(uploadFault(err), &f) {
			got = f.Code
			if again := got == wire.CodeIngestRetryable; again != (f.RetryAfter == 5*time.Second) {
				t.Errorf("%v: come back after %v", err, f.RetryAfter)
			}
		}
		if got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}
