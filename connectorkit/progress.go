package connectorkit

import (
	"context"
	"fmt"
	"time"

	"pdpp/protocol"
)

// progressEvery is the least time between two PROGRESS messages of a run.
const progressEvery = 250 * time.Millisecond

// progress throttles PROGRESS by the injected clock.
type progress struct{ last time.Time }

// report tells how far a stream is. The last report of a stream always goes out.
func (r *run) report(ctx context.Context, stream string, count, total int, last bool) error {
	now := r.p.Now()
	if !last && !r.progress.last.IsZero() && now.Sub(r.progress.last) < progressEvery {
		return nil
	}
	r.progress.last = now
	m := &protocol.Progress{Stream: stream, Message: fmt.Sprintf("%s: %d", stream, count)}
	done := float64(count)
	m.Count = &done
	if total > 0 {
		all := float64(max(total, count))
		m.Total = &all
		m.Message = fmt.Sprintf("%s: %d of %d", stream, count, max(total, count))
	}
	return r.out.send(ctx, m)
}
