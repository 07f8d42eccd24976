package runs

import (
	"context"
	"strings"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/sharedquota"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// joinSharedQuota lets the run share quotas with the runs of servers until ctx ends. Without the key that identifies
// quotas, the run does not share.
func joinSharedQuota(ctx context.Context, inv *command.Invocation, l *launch.Launcher, st store.Allowances) {
	key, err := inv.ExistingKey()
	if err != nil {
		return
	}
	host, _, _ := strings.Cut(inv.Env.Holder, ":")
	l.Allowances = &sharedquota.Hub{Store: st, Key: key, Host: host, Now: inv.Env.Now, AlwaysPoll: true}
	go l.Allowances.Poll(ctx)
}
