package serve

import (
	"context"

	"github.com/pdpp-go/pdpp/internal/share/embedding"
	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/share/webhooks"
)

// embedRecords computes the vectors of changed records for as long as the process runs, if the owner turned that on.
func (s *process) embedRecords(ctx context.Context) {
	w := &embedding.VectorWorker{Store: s.Store, Grants: grants.NewService(s.Store, s.Base, s.Now), Key: s.Key,
		Holder: s.Worker.ID, Now: s.Now, Log: s.Log}
	w.Run(ctx)
}

// deliverWebhooks delivers changes of records for as long as the process runs.
func (s *process) deliverWebhooks(ctx context.Context) {
	shared := grants.NewService(s.Store, s.Base, s.Now)
	read, err := webhooks.NewReader(ctx, s.Store, shared, s.Audit, s.Log, s.Now)
	if err != nil {
		if ctx.Err() == nil {
			s.Log.WarnContext(ctx, "webhooks are not delivered", "error", err)
		}
		return
	}
	d := &webhooks.Deliverer{Store: s.Store, Read: read, Grants: shared, Key: s.Key, Holder: s.Worker.ID, Now: s.Now,
		Log: s.Log, Paused: s.wantPush}
	d.Run(ctx)
}
