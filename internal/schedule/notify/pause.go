package notify

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// PausedWebhooks is what a Sender needs to notify the owner of webhooks that stopped.
type PausedWebhooks interface {
	Webhooks(ctx context.Context) ([]store.Webhook, error)
	Setting(ctx context.Context, name string) ([]byte, error)
	InitSetting(ctx context.Context, name string, value []byte, now time.Time) ([]byte, error)
}

// pauseWords are by the reason of a pause. Other pauses are the owner's own doing.
var pauseWords = map[string]string{
	store.WebhookRefused: "Deliveries are paused: the address refused them for too long. Fix it, then resume them.",
	store.WebhookGone:    "Deliveries are paused: the address wants no more. Resume them if that is wrong.",
}

// DeliverPauses notifies the owner of each pause of a webhook that its receiver caused. One process claims the pause
// and sends once: a process that dies in between loses that notification. In quiet hours it waits. A target that is
// added later does not receive old ones.
func (s *Sender) DeliverPauses(ctx context.Context, kept PausedWebhooks, now time.Time) error {
	all, err := kept.Webhooks(ctx)
	if err != nil {
		return fmt.Errorf("list the webhooks: %w", err)
	}
	all = slices.DeleteFunc(all, func(w store.Webhook) bool {
		return w.PausedAt == nil || pauseWords[w.PauseReason] == ""
	})
	if len(all) == 0 || s.Quiet.Holds(now) {
		return nil
	}
	var claimed []delivery
	for i := range all {
		w := &all[i]
		id := fmt.Sprintf("%s_%d", w.ID, w.PausedAt.Unix())
		mine, err := claimPause(ctx, kept, "webhook_pause_notice_"+id, now)
		if err != nil {
			return err
		}
		if mine {
			claimed = append(claimed, delivery{message: PushMessage{Object: "webhook", AttentionID: id,
				DisplayName: text.Cut(text.Line(w.Name), maxName), Words: pauseWords[w.PauseReason], Kind: "webhook_paused",
				Urgency: string(verdict.Now), Link: strings.TrimSuffix(s.Base, "/") + "/sharing/deliveries"}})
		}
	}
	if len(claimed) == 0 {
		return nil
	}
	targets, err := s.Store.Targets(ctx)
	if err != nil {
		return fmt.Errorf("list push targets: %w", err)
	}
	targets = slices.DeleteFunc(targets, func(t store.PushTarget) bool { return t.RetiredAt != nil })
	results := s.sendAll(ctx, targets, claimed, now)
	var errs []error
	for i := range targets {
		errs = append(errs, s.recordTarget(context.WithoutCancel(ctx), targets[i].ID, results[i], now))
	}
	return errors.Join(errs...)
}

// claimPause reports whether this call is the first one for a pause.
func claimPause(ctx context.Context, kept PausedWebhooks, name string, now time.Time) (bool, error) {
	if _, err := kept.Setting(ctx, name); !errors.Is(err, store.ErrNotFound) {
		return false, err
	}
	own := rand.Text()
	first, err := kept.InitSetting(ctx, name, []byte(own), now)
	return err == nil && string(first) == own, err
}
