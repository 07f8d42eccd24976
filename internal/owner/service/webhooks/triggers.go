package webhooks

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/owner/webhook"
	"github.com/pdpp-go/pdpp/internal/share/triggers"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// mostTriggers bounds how many triggers there are.
const mostTriggers = 100

// Triggers lists them.
func (h *Keeper) Triggers(ctx context.Context) ([]webhook.RunTrigger, error) {
	all, err := h.c.Store.Triggers(ctx)
	out := make([]webhook.RunTrigger, len(all))
	for i, t := range all {
		out[i] = h.showTrigger(t)
	}
	return out, faults.OwnerError(err, "list the triggers")
}

func (h *Keeper) showTrigger(t store.RunTrigger) webhook.RunTrigger {
	return webhook.RunTrigger{ID: t.ID, ConnectionID: t.ConnectionID, Kind: t.Kind,
		Address: strings.TrimSuffix(h.c.Base, "/") + triggers.Path + t.ID, CreatedAt: t.CreatedAt, Calls: t.Calls,
		LastCalledAt: t.LastCalledAt}
}

// AddTrigger adds a trigger and returns its secret.
func (h *Keeper) AddTrigger(ctx context.Context, n webhook.NewTrigger) (webhook.RunTrigger, string, error) {
	conn, err := h.c.Connection(ctx, n.ConnectionID)
	if err != nil {
		return webhook.RunTrigger{}, "", err
	}
	all, err := h.c.Store.Triggers(ctx)
	if err != nil {
		return webhook.RunTrigger{}, "", faults.OwnerError(err, "list the triggers")
	}
	t := store.RunTrigger{ID: "tr_" + strings.ToLower(rand.Text()[:16]), ConnectionID: conn.ID,
		Kind: cmp.Or(n.Kind, triggers.Generic), CreatedAt: h.c.Now()}
	switch {
	case len(all) >= mostTriggers:
		return webhook.RunTrigger{}, "", api.Invalid("connection_id",
			fmt.Sprintf("There are %d triggers, and that is the most.", mostTriggers), "Remove one first.")
	case !slices.Contains([]string{triggers.Generic, triggers.GitHub, triggers.Strava}, t.Kind):
		return webhook.RunTrigger{}, "", api.Invalid("kind", "There is no such kind of trigger.",
			"Choose generic, github or strava.")
	case conn.SourceKind == store.SourceLocalDevice:
		return webhook.RunTrigger{}, "", api.Invalid("connection_id", "This source is collected on one of your computers.",
			"Choose a source that this server collects.")
	}
	key, err := h.c.Key()
	if err != nil {
		return webhook.RunTrigger{}, "", faults.OwnerError(err, "load the key that seals secrets")
	}
	secret := triggers.NewSecret()
	t.Sealed = triggers.Seal(key, t.ID, secret)
	return h.showTrigger(t), secret, faults.OwnerError(h.c.Store.AddTrigger(ctx, t), "keep the trigger")
}

// RemoveTrigger removes a trigger: its address answers as if it had never been.
func (h *Keeper) RemoveTrigger(ctx context.Context, id string) error {
	err := h.c.Store.DeleteTrigger(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return api.NotFound("There is no such trigger.", "See the list of triggers.")
	}
	return faults.OwnerError(err, "remove the trigger")
}
