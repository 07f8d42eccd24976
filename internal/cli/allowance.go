package cli

import (
	"context"
	"strings"

	"github.com/pdpp-go/pdpp/internal/collect/allowance"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// shareAllowances lets a run of this command share allowances with those of servers, until ctx ends. Without the key
// that names them it goes by itself.
func (a *app) shareAllowances(ctx context.Context, l *launch.Launcher, st store.Allowances) {
	key, err := a.existingKey()
	if err != nil {
		return
	}
	host, _, _ := strings.Cut(a.env.Holder, ":")
	l.Allowances = &allowance.Hub{Store: st, Key: key, Host: host, Now: a.env.Now, Unaided: true}
	go l.Allowances.Follow(ctx)
}
