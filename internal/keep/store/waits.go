package store

import (
	"context"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/protocol"
)

// Waits are the moments before which a provider is not to be asked. They outlive
// the run that learned them: no run starts before the last of them is over, unless
// the owner says so (RunStart.AskAnyway).
type Waits interface {
	// PutWait notes a wait under the lease, one per sender, and never shortens one:
	// of two the one that ends later stays. Connections that share the sender's allowance
	// (Allowances) wait as well.
	PutWait(ctx context.Context, l Lease, w evidence.Wait, now time.Time) error
}

// WaitError tells until when a connection's provider is left alone.
type WaitError struct {
	Sender string
	Until  time.Time
	Reason protocol.WaitReason
}

func (e *WaitError) Error() string {
	return fmt.Sprintf("provider_wait: %s is not to be asked before %s", e.Sender, e.Until.UTC().Format(time.RFC3339))
}

// Is makes errors.Is(err, ErrWaiting) hold.
func (e *WaitError) Is(target error) bool { return target == ErrWaiting }
