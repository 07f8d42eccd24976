package notify

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// Store is the part of the store that a Sender needs.
type Store interface {
	store.Attentions
	Targets(ctx context.Context) ([]store.PushTarget, error)
	PutTarget(ctx context.Context, t store.PushTarget) error
	Connection(ctx context.Context, id string) (store.Connection, error)
}

// Sender sends notifications. Several may share a store.
type Sender struct {
	Store Store
	// HTTP sends the requests; nil means a client that dials only allowed addresses. Its redirect policy is replaced.
	HTTP *http.Client
	// Resolver is used by the default client; nil means the system's.
	Resolver *net.Resolver
	// Keys sign web push messages; without them browsers cannot be notified.
	Keys VAPID
	// Lines returns two lines of a connection's verdict; if nil, only the action is sent.
	Lines func(ctx context.Context, connectionID string) (happened, next string, err error)
	// Key decrypts the secrets of targets.
	Key credential.Key
	// Quiet is when nothing is sent; the zero value is never.
	Quiet Quiet
	// Base is the address of the owner's console, such as https://pdpp.lantern.example. If empty, links are paths.
	Base string
	// Log receives targets that are disabled. Nil discards them.
	Log *slog.Logger
}

const (
	// perPass limits how much one pass sends, and passLimit how long it takes. With claimTime they ensure that a live
	// sender keeps its claims.
	perPass      = 50
	passLimit    = time.Minute
	requestLimit = 10 * time.Second
)

// delivery is one claimed record.
type delivery struct {
	record  attention.AttentionRecord
	state   progress
	message PushMessage
}

// Deliver sends what is pending and due. It is meant to be called often and skips records that were sent, are claimed
// by another process or wait for their next attempt. The error reports failed reads and saves; a failing target is
// not an error.
func (s *Sender) Deliver(ctx context.Context, now time.Time) error {
	pending, err := s.Store.Attention(ctx, store.AttentionQuery{Notice: attention.NoticePending})
	if err != nil {
		return fmt.Errorf("list pending notices: %w", err)
	}
	pending = slices.DeleteFunc(pending, func(r attention.AttentionRecord) bool {
		return r.Notice != attention.NoticePending || !r.Open() || !claimable(&r, now)
	})
	if len(pending) == 0 {
		return nil
	}
	targets, err := s.Store.Targets(ctx)
	if err != nil {
		return fmt.Errorf("list push targets: %w", err)
	}
	targets = slices.DeleteFunc(targets, func(t store.PushTarget) bool { return t.RetiredAt != nil })
	switch {
	case len(targets) == 0:
		return s.suppress(ctx, pending, now)
	case s.Quiet.Holds(now):
		return nil
	}
	claimed, err := s.claim(ctx, pending[:min(len(pending), perPass)], now)
	if len(claimed) == 0 {
		return err
	}
	results := s.sendAll(ctx, targets, claimed, now)
	// Outcomes are saved even if the process is stopping.
	saving := context.WithoutCancel(ctx)
	errs := []error{err}
	for i := range claimed {
		errs = append(errs, s.saveOutcome(saving, ctx.Err() != nil, claimed[i], deliveryResults(results, i), now))
	}
	for i := range targets {
		errs = append(errs, s.recordTarget(saving, targets[i].ID, results[i], now))
	}
	return errors.Join(errs...)
}

// suppress closes notices if there is no target. A target that is added later does not receive old notices.
func (s *Sender) suppress(ctx context.Context, pending []attention.AttentionRecord, now time.Time) error {
	var errs []error
	for _, r := range pending {
		r.Notice, r.NoticeAt, r.NoticeWhy = attention.NoticeSuppressed, &now, "no_targets"
		if err := s.Store.SaveAttention(
			ctx,
			[]attention.AttentionRecord{r},
			nil,
		); err != nil &&
			!errors.Is(err, store.ErrStale) {
			errs = append(errs, fmt.Errorf("suppress notice %s: %w", r.ID, err))
		}
	}
	return errors.Join(errs...)
}

// sendAll sends every delivery to every target, in parallel by target. The results are by target, then by delivery.
func (s *Sender) sendAll(ctx context.Context, targets []store.PushTarget, claimed []delivery,
	now time.Time) [][]result {
	ctx, cancel := context.WithTimeout(ctx, passLimit)
	defer cancel()
	results := make([][]result, len(targets))
	var wait sync.WaitGroup
	for i, t := range targets {
		results[i] = make([]result, len(claimed))
		wait.Go(func() {
			for j := range claimed {
				if j > 0 && results[i][j-1].hopeless {
					results[i][j] = results[i][j-1]
					continue
				}
				results[i][j] = s.send(ctx, t, claimed[j].message, now)
			}
		})
	}
	wait.Wait()
	return results
}

func deliveryResults(results [][]result, i int) []result {
	out := make([]result, len(results))
	for j := range results {
		out[j] = results[j][i]
	}
	return out
}

// send sends one message to one target.
func (s *Sender) send(ctx context.Context, t store.PushTarget, m PushMessage, now time.Time) result {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	switch t.Kind {
	case store.TargetWebPush:
		return s.webPush(ctx, t, m, now)
	case store.TargetWebhook:
		return s.webhook(ctx, t, m)
	case store.TargetNtfy:
		return s.ntfy(ctx, t, m)
	default:
		return result{word: "unknown_kind", ours: true}
	}
}
