package notify

import (
	"context"
	"time"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/ops/fault"
)

// Try tells one target that it is set up, at the owner's request: at any hour,
// without a record and without a trace. The error is an *fault.Fault.
func (s *Sender) Try(ctx context.Context, t store.PushTarget, now time.Time) error {
	if err := CheckTarget(t); err != nil {
		return err
	}
	r := s.send(ctx, t, Message{Object: "test", AttentionID: "test_" + t.ID, DisplayName: "PDPP",
		Words: "This is a test. Pushes reach you here.", Kind: "test", Link: s.Base + "/"}, now)
	if r.ok {
		return nil
	}
	return fault.New("push_failed", "the target did not take the push: "+r.word, "Check its address and that it is reachable from this machine, then try again.")
}
