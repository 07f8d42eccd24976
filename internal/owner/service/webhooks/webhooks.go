// Package webhooks is what an owner can do about webhooks.
package webhooks

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/owner/webhook"
	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/share/readapi"
	"github.com/pdpp-go/pdpp/internal/share/webhooks"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// Config is what webhooks are kept with.
type Config struct {
	Store        store.Store
	Key, Opening func() (credential.Key, error)
	GrantService *grants.Service
	// Connection returns a connection that is in use.
	Connection func(ctx context.Context, id string) (store.Connection, error)
	Base       string // address of this server
	Now        func() time.Time
}

// Keeper keeps the webhooks of the owner.
type Keeper struct{ c Config }

// New returns the webhooks of a store.
func New(c Config) *Keeper { return &Keeper{c} }

// Webhooks lists them.
func (h *Keeper) Webhooks(ctx context.Context) ([]webhook.Webhook, error) {
	all, err := h.c.Store.Webhooks(ctx)
	if err != nil {
		return nil, faults.OwnerError(err, "list the webhooks")
	}
	out := make([]webhook.Webhook, len(all))
	for i := range all {
		out[i] = show(&all[i])
	}
	return out, nil
}

func show(w *store.Webhook) webhook.Webhook {
	out := webhook.Webhook{ID: w.ID, Name: w.Name, GrantID: w.GrantID, ConnectionID: w.ConnectionID,
		Streams: append([]string{}, w.Streams...), Batch: w.Batch, Local: w.Local, Status: w.Status(),
		PauseReason: w.PauseReason, CreatedAt: w.CreatedAt, PausedAt: w.PausedAt, FailingSince: w.FailingSince,
		LastFailure: w.LastFailure, NextAt: w.NextAt, LastSuccessAt: w.LastSuccessAt, Deliveries: w.Deliveries,
		Letters: []webhook.Letter{}}
	if u, err := url.Parse(w.Address); err == nil {
		out.Host = u.Host
	}
	for _, l := range w.Letters {
		out.Letters = append(out.Letters, webhook.Letter{ID: l.ID, Stream: l.Stream, Changes: l.Changes, Reason: l.Reason,
			RefusedAt: l.RefusedAt})
	}
	return out
}

// AddWebhook adds a webhook and returns its secret.
func (h *Keeper) AddWebhook(ctx context.Context, n webhook.NewWebhook) (webhook.Webhook, string, error) {
	w, err := h.checked(ctx, n)
	if err != nil {
		return webhook.Webhook{}, "", err
	}
	if err := h.begin(ctx, &w, n); err != nil {
		return webhook.Webhook{}, "", faults.OwnerError(err, "find where the changes are")
	}
	key, err := h.c.Key()
	if err != nil {
		return webhook.Webhook{}, "", faults.OwnerError(err, "load the key that seals secrets")
	}
	secret := webhooks.NewSecret()
	w.Sealed = webhooks.Seal(key, w.ID, secret)
	if err := h.c.Store.AddWebhook(ctx, w); err != nil {
		return webhook.Webhook{}, "", faults.OwnerError(err, "keep the webhook")
	}
	return show(&w), secret, nil
}

// checked returns a webhook as it was asked for.
func (h *Keeper) checked(ctx context.Context, n webhook.NewWebhook) (w store.Webhook, err error) {
	if err := webhooks.CheckAddress(n.Address, n.Local); err != nil {
		return w, faults.OwnerError(err, "check the address")
	}
	u, err := url.Parse(n.Address)
	if err != nil {
		return w, err
	}
	w = store.Webhook{ID: "wh_" + strings.ToLower(rand.Text()[:10]), Name: cmp.Or(text.Line(n.Name), u.Hostname()),
		GrantID: n.GrantID, Address: n.Address, Local: n.Local, ConnectionID: n.ConnectionID, Streams: n.Streams,
		Batch: cmp.Or(n.Batch, webhook.UsualBatch), CreatedAt: h.c.Now()}
	all, err := h.c.Store.Webhooks(ctx)
	switch {
	case err != nil:
		return w, faults.OwnerError(err, "list the webhooks")
	case len(all) >= webhooks.MostWebhooks:
		return w, api.Invalid("address", fmt.Sprintf("There are %d webhooks, and that is the most.", webhooks.MostWebhooks),
			"Remove one first.")
	case !api.IsName(w.Name):
		return w, api.Invalid("name", "The name is too long.", "Choose a shorter one.")
	case w.Batch < 1 || w.Batch > webhook.MaxBatch:
		return w, api.Invalid("batch", "A delivery holds 1 to 100 changes.", "Choose a number between them.")
	case n.Since != "" && n.Since != webhook.Now && n.Since != webhook.Beginning:
		return w, api.Invalid("since", "Deliveries begin now or at the beginning.", "Choose now or beginning.")
	case len(n.Streams) > 100:
		return w, api.Invalid("streams", "These are too many streams.", "Name none to follow all.")
	}
	return w, nil
}

// begin sets where the deliveries begin. It returns an error for streams that may not be read.
func (h *Keeper) begin(ctx context.Context, w *store.Webhook, n webhook.NewWebhook) error {
	who, err := h.access(ctx, w.GrantID)
	if err != nil {
		return err
	}
	if who.SingleUse() {
		return api.Invalid("grant_id", "The grant allows to read each stream once.", "Choose a continuous grant.")
	}
	read, err := h.reader(ctx)
	if err != nil {
		return err
	}
	names := n.Streams
	if len(names) == 0 {
		views, err := h.c.GrantService.Views(ctx, who, "", n.ConnectionID)
		if err != nil {
			return err
		}
		for _, v := range views {
			names = append(names, v.Name())
		}
		slices.Sort(names)
		names = slices.Compact(names)
	}
	for _, name := range names {
		end, err := read.EndOf(ctx, who, readapi.Following{Stream: name, ConnectionID: n.ConnectionID})
		if err != nil {
			return err
		}
		if n.Since != webhook.Beginning {
			w.Feeds = append(w.Feeds, store.WebhookFeed{Stream: name, Cursor: end})
		}
	}
	return nil
}

func (h *Keeper) access(ctx context.Context, grantID string) (grants.Access, error) {
	if grantID == "" {
		return grants.OwnerAccess(), nil
	}
	return h.c.GrantService.AccessOf(ctx, grantID)
}

func (h *Keeper) reader(ctx context.Context) (*readapi.API, error) {
	return webhooks.NewReader(ctx, h.c.Store, h.c.GrantService, nil, nil, h.c.Now)
}

func (h *Keeper) find(ctx context.Context, id string) (store.Webhook, error) {
	all, err := h.c.Store.Webhooks(ctx)
	if err != nil {
		return store.Webhook{}, faults.OwnerError(err, "list the webhooks")
	}
	i := slices.IndexFunc(all, func(w store.Webhook) bool { return w.ID == id })
	if i < 0 {
		return store.Webhook{}, notFound(nil)
	}
	return all[i], nil
}

func notFound(err error) error {
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return faults.OwnerError(err, "change the webhook")
	}
	e := api.NotFound("There is no such webhook.", "Choose one of your webhooks.")
	e.Err = err
	return e
}

// PauseWebhook stops deliveries.
func (h *Keeper) PauseWebhook(ctx context.Context, id string) error {
	w, err := h.find(ctx, id)
	if err != nil || w.PausedAt != nil {
		return err
	}
	now := h.c.Now()
	w.PausedAt, w.PauseReason = &now, store.WebhookByOwner
	return h.setState(ctx, &w)
}

// ResumeWebhook delivers again, at once.
func (h *Keeper) ResumeWebhook(ctx context.Context, id string) error {
	w, err := h.find(ctx, id)
	if err != nil {
		return err
	}
	w.PausedAt, w.PauseReason, w.Failures, w.FailingSince, w.NextAt = nil, "", 0, nil, nil
	return h.setState(ctx, &w)
}

func (h *Keeper) setState(ctx context.Context, w *store.Webhook) error {
	if err := h.c.Store.SetWebhookState(ctx, w.ID, "", w.WebhookState); err != nil {
		return notFound(err)
	}
	return nil
}

// RemoveWebhook ends deliveries for good.
func (h *Keeper) RemoveWebhook(ctx context.Context, id string) error {
	if err := h.c.Store.DeleteWebhook(ctx, id); err != nil {
		return notFound(err)
	}
	return nil
}

// RotateWebhook replaces the secret.
func (h *Keeper) RotateWebhook(ctx context.Context, id string, r webhook.Rotation) (webhook.Webhook, string, error) {
	w, err := h.find(ctx, id)
	if err != nil {
		return webhook.Webhook{}, "", err
	}
	key, err := h.c.Key()
	if err != nil {
		return webhook.Webhook{}, "", faults.OwnerError(err, "load the key that seals secrets")
	}
	secret, sealed, err := webhooks.Rotate(key, w, r.AtOnce, h.c.Now())
	if err != nil {
		return webhook.Webhook{}, "", faults.OwnerError(err, "read the secret")
	}
	if err := h.c.Store.SetWebhookSecret(ctx, id, w.Sealed, sealed); err != nil {
		return webhook.Webhook{}, "", notFound(err)
	}
	return show(&w), secret, nil
}

// ReplayWebhook sets a stream back.
func (h *Keeper) ReplayWebhook(ctx context.Context, id string, r webhook.Replay) error {
	w, err := h.find(ctx, id)
	if err != nil {
		return err
	}
	cursor, err := h.place(ctx, &w, &r)
	if err != nil {
		return faults.OwnerError(err, "find the place")
	}
	if err := h.c.Store.RewindWebhook(ctx, id, r.Stream, cursor, r.Letter); err != nil {
		return notFound(err)
	}
	return nil
}

// place returns the cursor of a replay, which must be one of this webhook's reader.
func (h *Keeper) place(ctx context.Context, w *store.Webhook, r *webhook.Replay) (string, error) {
	if r.Letter != "" {
		i := slices.IndexFunc(w.Letters, func(l store.WebhookLetter) bool { return l.ID == r.Letter })
		if i < 0 {
			return "", api.NotFound("There is no such refused delivery.", "Choose one of the webhook's.")
		}
		r.Stream = w.Letters[i].Stream
		return w.Letters[i].Cursor, nil
	}
	if r.Stream == "" || len(w.Streams) > 0 && !slices.Contains(w.Streams, r.Stream) {
		return "", api.Invalid("stream", "The webhook does not follow this stream.", "Name one that it follows.")
	}
	who, err := h.access(ctx, w.GrantID)
	if err != nil {
		return "", err
	}
	read, err := h.reader(ctx)
	if err != nil {
		return "", err
	}
	at := readapi.Following{Stream: r.Stream, ConnectionID: w.ConnectionID, Limit: 1}
	switch r.Since {
	case webhook.Now:
		return read.EndOf(ctx, who, at)
	case webhook.Beginning:
	case "":
		return "", api.Invalid("since", "The place to deliver from is missing.", "Name a cursor, beginning or now.")
	default:
		at.Since = r.Since
	}
	_, err = read.Follow(ctx, who, at)
	return at.Since, err
}

// TestWebhook sends a message without records.
func (h *Keeper) TestWebhook(ctx context.Context, id string) (webhook.TestResult, error) {
	w, err := h.find(ctx, id)
	if err != nil {
		return webhook.TestResult{}, err
	}
	key, err := h.c.Opening()
	if err != nil {
		return webhook.TestResult{}, faults.OwnerError(err, "load the key that seals secrets")
	}
	o, err := webhooks.Test(ctx, key, w, h.c.Now())
	return webhook.TestResult{Failure: o.Failure}, faults.OwnerError(err, "send the test")
}
