package store

import (
	"context"
	"time"
)

// Webhooks stores the addresses that learn of changed records, and how far each has them.
type Webhooks interface {
	// AddWebhook stores a webhook with its feeds.
	AddWebhook(ctx context.Context, w Webhook) error
	// Webhooks lists all by time of creation, with their feeds and letters.
	Webhooks(ctx context.Context) ([]Webhook, error)
	// DeleteWebhook returns ErrNotFound for an unknown id.
	DeleteWebhook(ctx context.Context, id string) error
	// SetWebhookSecret replaces the sealed secret and ends the claim, so that deliveries go on with it. It returns
	// ErrNotFound when the secret is not the old one.
	SetWebhookSecret(ctx context.Context, id string, old, sealed []byte) error
	// SetWebhookState replaces the state and ends the claim. With a holder, it returns ErrNotFound unless that process
	// still has the claim.
	SetWebhookState(ctx context.Context, id, holder string, s WebhookState) error
	// ClaimWebhook lets one process deliver until a time. It reports whether the process has the claim.
	ClaimWebhook(ctx context.Context, id, holder string, now, until time.Time) (bool, error)
	// AdvanceWebhook records that what follows a cursor was delivered, or refused for good when there is a letter. It
	// returns ErrNotFound when the process lost its claim, or when the owner set the feed back.
	AdvanceWebhook(ctx context.Context, m WebhookMove) error
	// RewindWebhook sets a feed to a cursor, and the deliveries that follow get new ids. A letter that is named is
	// deleted. It ends the claim.
	RewindWebhook(ctx context.Context, id, stream, cursor, letter string) error
}

// Webhook is one address. GrantID is the grant that limits it; empty for the owner.
type Webhook struct {
	ID           string
	Name         string
	GrantID      string
	Address      string
	Sealed       []byte // the secret that signs
	Local        bool   // the address may be in a private network, and without TLS
	ConnectionID string // the only one that is followed; empty for all
	Streams      []string
	Batch        int // the most changes of one delivery
	CreatedAt    time.Time
	Deliveries   int64
	WebhookState
	Feeds   []WebhookFeed
	Letters []WebhookLetter
}

// Status returns active, failing or paused.
func (w *Webhook) Status() string {
	switch {
	case w.PausedAt != nil:
		return "paused"
	case w.Failures > 0:
		return "failing"
	}
	return "active"
}

// Reasons of a pause.
const (
	WebhookByOwner   = "owner"
	WebhookRefused   = "refused" // it failed for too long, or refused too much
	WebhookGone      = "gone"    // the address wants no more deliveries
	WebhookGrantOver = "grant"
)

// WebhookState is how deliveries of a webhook go.
type WebhookState struct {
	PausedAt      *time.Time
	PauseReason   string
	Failures      int // in a row
	FailingSince  *time.Time
	NextAt        *time.Time // of the next attempt
	LastFailure   string
	LastSuccessAt *time.Time
}

// WebhookFeed is how far a stream was delivered. Cursor is empty at the beginning. Round counts how often it was set
// back.
type WebhookFeed struct {
	Stream string
	Cursor string
	Round  int64
}

// WebhookLetter is a delivery that was refused for good. Cursor is the place before its changes.
type WebhookLetter struct {
	ID        string
	Stream    string
	Cursor    string
	Changes   int
	Reason    string
	RefusedAt time.Time
}

// WebhookMove advances a feed behind one delivery.
type WebhookMove struct {
	ID, Holder string
	From       WebhookFeed // the place before the delivery
	Cursor     string      // the place behind it
	Letter     *WebhookLetter
	Now, Until time.Time // the claim is extended until then
}

// RunTriggers stores the addresses of this server that start a run.
type RunTriggers interface {
	AddTrigger(ctx context.Context, t RunTrigger) error
	// Triggers lists all by time of creation.
	Triggers(ctx context.Context) ([]RunTrigger, error)
	// DeleteTrigger returns ErrNotFound for an unknown id.
	DeleteTrigger(ctx context.Context, id string) error
	// CountTrigger counts an accepted call.
	CountTrigger(ctx context.Context, id string, now time.Time) error
}

// RunTrigger is one such address. Kind is generic, github or strava.
type RunTrigger struct {
	ID           string
	ConnectionID string
	Kind         string
	Sealed       []byte
	CreatedAt    time.Time
	Calls        int64
	LastCalledAt *time.Time
}
