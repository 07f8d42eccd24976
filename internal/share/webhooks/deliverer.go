package webhooks

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/share/readapi"
	"github.com/pdpp-go/pdpp/internal/share/readapi/grantview"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

const (
	// usualEvery is how often a process looks for changes.
	usualEvery = 2 * time.Second
	// claimTime is how long a process may take for one delivery before another one takes over.
	claimTime = sendTime + 5*time.Second
	// firstWait and longestWait bound the pause after a failure. It doubles.
	firstWait   = time.Second
	longestWait = time.Hour
	// pauseAfter is how long an address may fail before the webhook is paused.
	pauseAfter = 72 * time.Hour
	// refusals is how often a delivery is repeated that an address will not accept.
	refusals = 5
	// maxLetters is how many deliveries may be put aside before the webhook is paused.
	maxLetters = 100
)

// Store is what the deliverer uses of the store.
type Store interface {
	store.Webhooks
	Streams(ctx context.Context, connectionID string) ([]store.StreamInfo, error)
}

// Deliverer delivers changes to webhooks.
type Deliverer struct {
	Store  Store
	Read   *readapi.API
	Grants *grants.Service
	Key    credential.Key
	Holder string // names this process
	Now    func() time.Time
	Log    *slog.Logger
	// Paused is called after a receiver caused a pause. It may be nil.
	Paused func()
	// Every is how often it looks for changes; zero means every two seconds. Claim is how long a process may be silent
	// before another one takes over; zero means 15 seconds. Wait is the pause after the first failure; zero means a
	// second.
	Every, Claim, Wait time.Duration

	mu   sync.Mutex
	busy map[string]bool
	seen map[string]string // by webhook: what its streams were like when everything was delivered
}

// Run delivers until the context ends.
func (d *Deliverer) Run(ctx context.Context) {
	d.busy, d.seen = map[string]bool{}, map[string]string{}
	var deliveries sync.WaitGroup
	defer deliveries.Wait()
	for {
		if err := d.pass(ctx, &deliveries); err != nil && ctx.Err() == nil {
			d.Log.WarnContext(ctx, "webhooks could not be read; it is tried again", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(cmp.Or(d.Every, usualEvery)):
		}
	}
}

// pass starts the delivery of every webhook that has something to deliver.
func (d *Deliverer) pass(ctx context.Context, deliveries *sync.WaitGroup) error {
	all, err := d.Store.Webhooks(ctx)
	if err != nil || len(all) == 0 {
		return err
	}
	streams, err := d.Store.Streams(ctx, "")
	if err != nil {
		return err
	}
	for i := range all {
		w := &all[i]
		state := stateOf(w, streams)
		if w.PausedAt != nil || w.NextAt != nil && w.NextAt.After(d.Now()) || !d.enter(w.ID, state) {
			continue
		}
		deliveries.Go(func() {
			whole, err := d.deliver(ctx, w, streams)
			if err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrNotFound) { // not found: the owner changed it
				d.Log.WarnContext(ctx, "a webhook could not be worked on; it is tried again", "webhook", w.ID, "error", err)
			}
			d.leave(w.ID, state, whole && err == nil)
		})
	}
	return nil
}

// stateOf describes how far the streams of a webhook have come, and what the owner set back.
func stateOf(w *store.Webhook, streams []store.StreamInfo) string {
	var text strings.Builder
	for _, s := range streams {
		if follows(w, s) {
			fmt.Fprintf(&text, "%s %s %d %d\n", s.ConnectionID, s.Name, s.LastSeq, s.PurgedSeq)
		}
	}
	for _, f := range w.Feeds {
		fmt.Fprintln(&text, f.Stream, f.Round)
	}
	return text.String()
}

func follows(w *store.Webhook, s store.StreamInfo) bool {
	return (w.ConnectionID == "" || w.ConnectionID == s.ConnectionID) &&
		(len(w.Streams) == 0 || slices.Contains(w.Streams, s.Name))
}

func (d *Deliverer) enter(id, state string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if seen, known := d.seen[id]; d.busy[id] || known && seen == state {
		return false
	}
	d.busy[id] = true
	return true
}

func (d *Deliverer) leave(id, state string, whole bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.busy, id)
	delete(d.seen, id)
	if whole {
		d.seen[id] = state
	}
}

// deliver sends everything that changed, stream by stream. It returns false when something is left.
func (d *Deliverer) deliver(ctx context.Context, w *store.Webhook, streams []store.StreamInfo) (whole bool, err error) {
	claimed, err := d.Store.ClaimWebhook(ctx, w.ID, d.Holder, d.Now(), d.until())
	if err != nil || !claimed {
		return false, err
	}
	all, err := d.Store.Webhooks(ctx) // what another process delivered before the claim counts
	i := slices.IndexFunc(all, func(other store.Webhook) bool { return other.ID == w.ID })
	if err != nil || i < 0 {
		return false, err
	}
	w = &all[i]
	signing, err := openSecrets(d.Key, w.ID, w.Sealed)
	if err != nil {
		return false, d.fail(ctx, w, Attempt{Failure: "secret_unreadable"})
	}
	who, err := d.access(ctx, w)
	if over := (grants.Refusal{}); errors.As(err, &over) {
		return true, d.pause(ctx, w, store.WebhookGrantOver)
	} else if err != nil {
		return false, err
	}
	if g := who.Grant(); g != nil {
		ctx = audit.WithActor(ctx, audit.Actor{Kind: audit.Grant, ID: g.ID, Name: g.ClientName})
	}
	for _, stream := range names(w, who, streams) {
		t := &turn{Deliverer: d, webhook: w, who: who, secrets: signing, feed: feedOf(w, stream)}
		if whole, err := t.stream(ctx); err != nil || !whole {
			return false, err
		}
	}
	return true, nil
}

func (d *Deliverer) until() time.Time { return d.Now().Add(cmp.Or(d.Claim, claimTime)) }

// access returns what the webhook may read now.
func (d *Deliverer) access(ctx context.Context, w *store.Webhook) (grants.Access, error) {
	if w.GrantID == "" {
		return grants.OwnerAccess(), nil
	}
	return d.Grants.AccessOf(ctx, w.GrantID)
}

// names returns the streams that a webhook follows and its reader may read.
func names(w *store.Webhook, who grants.Access, streams []store.StreamInfo) (all []string) {
	for _, s := range streams {
		granted := who.Grant() == nil || slices.ContainsFunc(who.Grant().Scope, func(g grants.Stream) bool {
			return g.Stream == s.Name && g.ConnectionID == s.ConnectionID
		})
		if granted && follows(w, s) {
			all = append(all, s.Name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func feedOf(w *store.Webhook, stream string) store.WebhookFeed {
	for _, f := range w.Feeds {
		if f.Stream == stream {
			return f
		}
	}
	return store.WebhookFeed{Stream: stream}
}

// turn is the delivery of one stream.
type turn struct {
	*Deliverer
	webhook *store.Webhook
	who     grants.Access
	secrets secrets
	feed    store.WebhookFeed
}

// message is the body of a delivery.
type message struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	WebhookID string    `json:"webhook_id"`
	Stream    string    `json:"stream,omitempty"`
	Data      any       `json:"data,omitempty"`
}

// Types of messages.
const (
	typeChanged = "records.changed"
	typeReset   = "records.reset" // records were deleted for good: the stream begins again
	typeTest    = "test"
)

// stream delivers a stream page by page. Access is decided again for each page.
func (t *turn) stream(ctx context.Context) (whole bool, err error) {
	for {
		if t.who, err = t.access(ctx, t.webhook); err != nil {
			break
		}
		var page grantview.ChangePage
		page, err = t.Read.Follow(ctx, t.who, readapi.Following{Stream: t.feed.Stream,
			ConnectionID: t.webhook.ConnectionID, Since: t.feed.Cursor, Limit: t.webhook.Batch})
		if err != nil {
			break
		}
		if len(page.Data) > 0 {
			if sent, err := t.send(ctx, page); err != nil || !sent {
				return false, err
			}
		}
		t.feed.Cursor = page.NextChangesSince
		if !page.HasMore {
			return true, nil
		}
	}
	var refused grants.Refusal
	if !errors.As(err, &refused) {
		return false, err
	}
	switch refused.Code {
	case grants.CodeRateLimit, grants.CodeReadTimeout:
		return false, nil // the next pass tries again
	case grants.CodeInvalidCursor:
		return false, t.reset(ctx)
	case grants.CodeGrantRevoked, grants.CodeGrantExpired, grants.CodeInvalidToken:
		return true, t.pause(ctx, t.webhook, store.WebhookGrantOver)
	}
	return true, nil // the stream may not be read
}

// send delivers a page and records that. It returns false when the address did not take it.
func (t *turn) send(ctx context.Context, page grantview.ChangePage) (sent bool, err error) {
	content, err := json.Marshal(page.Data)
	if err != nil {
		return false, err
	}
	id := t.secrets.messageID(t.webhook.ID, t.feed.Stream, fmt.Sprint(t.feed.Round), string(content))
	o, err := t.post(ctx, id, message{Type: typeChanged, Stream: t.feed.Stream, Data: page})
	if err != nil {
		return false, err
	}
	move := store.WebhookMove{ID: t.webhook.ID, Holder: t.Holder, From: t.feed, Cursor: page.NextChangesSince,
		Now: t.Now(), Until: t.until()}
	if o.Failure != "" {
		if !o.refused || t.webhook.Failures+1 < refusals || len(t.webhook.Letters) >= maxLetters {
			return false, t.fail(ctx, t.webhook, o)
		}
		letter := store.WebhookLetter{ID: "let_" + strings.ToLower(rand.Text()[:10]), Stream: t.feed.Stream,
			Cursor: t.feed.Cursor, Changes: len(page.Data), Reason: o.Failure, RefusedAt: t.Now()}
		move.Letter, t.webhook.Letters = &letter, append(t.webhook.Letters, letter)
	}
	t.webhook.Failures, t.webhook.FailingSince, t.webhook.NextAt = 0, nil, nil
	if move.Letter == nil {
		t.webhook.LastSuccessAt = &move.Now
	}
	return true, t.Store.AdvanceWebhook(ctx, move)
}

// reset reports that the stream begins again.
func (t *turn) reset(ctx context.Context) error {
	id := t.secrets.messageID(t.webhook.ID, t.feed.Stream, fmt.Sprint(t.feed.Round), typeReset)
	o, err := t.post(ctx, id, message{Type: typeReset, Stream: t.feed.Stream})
	if err != nil {
		return err
	}
	if o.Failure != "" {
		return t.fail(ctx, t.webhook, o)
	}
	return t.Store.RewindWebhook(ctx, t.webhook.ID, t.feed.Stream, "", "")
}

func (t *turn) post(ctx context.Context, id string, m message) (Attempt, error) {
	m.WebhookID, m.Timestamp = t.webhook.ID, t.Now().UTC()
	body, err := json.Marshal(m)
	if err != nil {
		return Attempt{}, err
	}
	return post(ctx, t.webhook.Address, t.webhook.Local, t.secrets, id, t.Now(), body), nil
}

// fail records a failure, and pauses a webhook that failed for too long.
func (d *Deliverer) fail(ctx context.Context, w *store.Webhook, o Attempt) error {
	if o.stopped {
		return nil
	}
	now := d.Now()
	wait := longestWait
	if w.Failures < 12 {
		wait = min(cmp.Or(d.Wait, firstWait)<<w.Failures, longestWait)
	}
	s := w.WebhookState
	next := now.Add(max(wait, o.wait))
	s.Failures, s.LastFailure, s.NextAt = s.Failures+1, o.Failure, &next
	if s.FailingSince == nil {
		s.FailingSince = &now
	}
	switch {
	case o.gone:
		s.PausedAt, s.PauseReason = &now, store.WebhookGone
	case now.Sub(*s.FailingSince) > pauseAfter, o.refused && len(w.Letters) >= maxLetters:
		s.PausedAt, s.PauseReason = &now, store.WebhookRefused
	}
	err := d.Store.SetWebhookState(ctx, w.ID, d.Holder, s)
	if err == nil && s.PausedAt != nil && d.Paused != nil {
		d.Paused()
	}
	return err
}

func (d *Deliverer) pause(ctx context.Context, w *store.Webhook, reason string) error {
	s, now := w.WebhookState, d.Now()
	s.PausedAt, s.PauseReason = &now, reason
	return d.Store.SetWebhookState(ctx, w.ID, d.Holder, s)
}

// Test sends a message without changes.
func Test(ctx context.Context, key credential.Key, w store.Webhook, now time.Time) (Attempt, error) {
	signing, err := openSecrets(key, w.ID, w.Sealed)
	if err != nil {
		return Attempt{}, err
	}
	t := &turn{Deliverer: &Deliverer{Now: func() time.Time { return now }}, webhook: &w, secrets: signing}
	return t.post(ctx, signing.messageID(w.ID, typeTest, now.String()), message{Type: typeTest})
}
