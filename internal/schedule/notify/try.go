package notify

import (
	"context"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// Try sends a test message to one target at the owner's request, at any hour and without a record.
func (s *Sender) Try(ctx context.Context, t store.PushTarget, now time.Time) error {
	if err := CheckTarget(t); err != nil {
		return err
	}
	r := s.send(ctx, t, PushMessage{Object: "test", AttentionID: "test_" + t.ID, DisplayName: "PDPP",
		Words: "This is a test. Pushes reach you here.", Kind: "test", Link: s.Base + "/"}, now)
	if r.ok {
		return nil
	}
	return usererr.New("push_failed", "the target did not take the push: "+r.word,
		"Check its address and that it is reachable from this machine, then try again.")
}
