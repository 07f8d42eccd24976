package store

import (
	"context"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/protocol"
)

// Waits stores times before which a provider must not receive requests. They outlive the run that received them: no
// run starts before they pass, unless the owner decides so (RunStart.AskAnyway).
type Waits interface {
	// PutWait stores a wait under the lease, one per sender, and never shortens one. Connections that share the
	// sender's allowance (Allowances) wait too.
	PutWait(ctx context.Context, l Lease, w evidence.SenderWait, now time.Time) error
}

// WaitError reports until when a connection's provider receives no requests.
type WaitError struct {
	Sender string
	Until  time.Time
	Reason protocol.WaitReason
}

func (e *WaitError) Error() string {
	return fmt.Sprintf("provider_wait: %s is not to be asked before %s", e.Sender, e.Until.UTC().Format(time.RFC3339))
}

// Is reports whether target is ErrWaiting.
func (e *WaitError) Is(target error) bool { return target == ErrWaiting }
