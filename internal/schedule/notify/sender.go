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
	"github.com/pdpp-go/pdpp/internal/keep/credential"
	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// Store is what a Sender needs of the store.
type Store interface {
	store.Attentions
	Targets(ctx context.Context) ([]store.PushTarget, error)
	PutTarget(ctx context.Context, t store.PushTarget) error
	Connection(ctx context.Context, id string) (store.Connection, error)
}

// Sender sends pushes. Several may share a store.
type Sender struct {
	Store Store
	// HTTP reaches the targets; nil means a plain client, which keeps to addresses that
	// may be reached. Its redirect policy is replaced by the one of this package.
	HTTP *http.Client
	// Resolver finds the addresses of targets for the plain client; nil means the system's.
	Resolver *net.Resolver
	// Keys sign web pushes; without them a browser cannot be told.
	Keys VAPID
	// Lines gives two lines of a connection's verdict; nil tells the action alone.
	Lines func(ctx context.Context, connectionID string) (happened, next string, err error)
	// Key opens the secrets of targets.
	Key credential.Key
	// Quiet is when nobody is told; the zero value is never.
	Quiet Quiet
	// Base is where the owner's console is, such as https://pdpp.lantern.example;
	// empty makes links of a path alone.
	Base string
	// Log is told of targets that are given up; nil means nobody.
	Log *slog.Logger
}

const (
	// perPass bounds what one pass sends, passLimit how long it takes. Together
	// with the time that a claim lasts they keep a living sender's claim its own.
	perPass      = 50
	passLimit    = time.Minute
	requestLimit = 10 * time.Second
)

// delivery is one claimed record on its way.
type delivery struct {
	record  attention.Record
	state   progress
	message Message
}

// Deliver sends what is pending and due. It is meant to be called often: what
// was sent, is being sent by somebody else, or waits for its next attempt is
// left alone. The error is for what could not be read or saved; a target that
// fails is no error.
func (s *Sender) Deliver(ctx context.Context, now time.Time) error {
	pending, err := s.Store.Attention(ctx, store.AttentionQuery{Notice: attention.NoticePending})
	if err != nil {
		return fmt.Errorf("list pending notices: %w", err)
	}
	pending = slices.DeleteFunc(pending, func(r attention.Record) bool {
		return r.Notice != attention.NoticePending || !r.Open() || !due(&r, now)
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
	// What was sent is on record even when the process is told to stop.
	saving := context.WithoutCancel(ctx)
	errs := []error{err}
	for i := range claimed {
		errs = append(errs, s.settle(saving, ctx.Err() != nil, claimed[i], column(results, i), now))
	}
	for i := range targets {
		errs = append(errs, s.remember(saving, targets[i].ID, results[i], now))
	}
	return errors.Join(errs...)
}

// suppress closes notices for which there is nobody. A target that is added
// later is not told of old things.
func (s *Sender) suppress(ctx context.Context, pending []attention.Record, now time.Time) error {
	var errs []error
	for _, r := range pending {
		r.Notice, r.NoticeAt, r.NoticeWhy = attention.NoticeSuppressed, &now, "no_targets"
		if err := s.Store.SaveAttention(ctx, []attention.Record{r}, nil); err != nil && !errors.Is(err, store.ErrStale) {
			errs = append(errs, fmt.Errorf("suppress notice %s: %w", r.ID, err))
		}
	}
	return errors.Join(errs...)
}

// sendAll tells every target of everything, each target at its own speed. The
// results are by target, then by delivery.
func (s *Sender) sendAll(ctx context.Context, targets []store.PushTarget, claimed []delivery, now time.Time) [][]result {
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

func column(results [][]result, i int) []result {
	out := make([]result, len(results))
	for j := range results {
		out[j] = results[j][i]
	}
	return out
}

// send tells one target.
func (s *Sender) send(ctx context.Context, t store.PushTarget, m Message, now time.Time) result {
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
