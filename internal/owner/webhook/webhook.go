// Package webhook defines what an owner sees of webhooks, which deliver changes of records to an address, and of
// triggers, which start a run when an address of this server is called.
package webhook

import (
	"context"
	"time"
)

// Control is what an owner can do about them.
type Control interface {
	// Webhooks lists them by time of creation.
	Webhooks(ctx context.Context) ([]Webhook, error)
	// AddWebhook returns the secret of its signatures, which cannot be read again.
	AddWebhook(ctx context.Context, n NewWebhook) (Webhook, string, error)
	// PauseWebhook stops deliveries. Nothing is lost: ResumeWebhook delivers what changed meanwhile.
	PauseWebhook(ctx context.Context, id string) error
	ResumeWebhook(ctx context.Context, id string) error
	RemoveWebhook(ctx context.Context, id string) error
	// RotateWebhook replaces the secret and returns the new one, which cannot be read again. Deliveries are signed with
	// both for a day.
	RotateWebhook(ctx context.Context, id string, r Rotation) (Webhook, string, error)
	// ReplayWebhook delivers a stream again.
	ReplayWebhook(ctx context.Context, id string, r Replay) error
	// TestWebhook sends a message without records.
	TestWebhook(ctx context.Context, id string) (TestResult, error)
	// Triggers lists the addresses of this server that start a run, by time of creation.
	Triggers(ctx context.Context) ([]RunTrigger, error)
	// AddTrigger returns the secret that callers show, which cannot be read again.
	AddTrigger(ctx context.Context, n NewTrigger) (RunTrigger, string, error)
	RemoveTrigger(ctx context.Context, id string) error
}

// RunTrigger is an address of this server that starts a run when another program calls it.
type RunTrigger struct {
	ID           string     `json:"trigger_id"`
	ConnectionID string     `json:"connection_id"`
	Kind         string     `json:"kind" enum:"generic,github,strava"`
	Address      string     `json:"address"` // without the secret
	CreatedAt    time.Time  `json:"created_at"`
	Calls        int64      `json:"calls"` // that asked for a run
	LastCalledAt *time.Time `json:"last_called_at"`
}

// SecretAddress returns the address for callers that can show the secret in no other way; empty where they sign.
func (t RunTrigger) SecretAddress(secret string) string {
	if t.Kind == "github" {
		return ""
	}
	return t.Address + "/" + secret
}

// NewTrigger adds a trigger.
type NewTrigger struct {
	ConnectionID string `json:"connection_id"`
	Kind         string `json:"kind,omitempty" enum:"generic,github,strava"` // generic by default
}

// Webhook is one address that changes are delivered to.
type Webhook struct {
	ID            string     `json:"webhook_id"`
	Name          string     `json:"name"`
	Host          string     `json:"host"`     // of the address; the rest of it may be secret
	GrantID       string     `json:"grant_id"` // that limits it; empty for everything that the owner may read
	ConnectionID  string     `json:"connection_id"`
	Streams       []string   `json:"streams"` // empty for all
	Batch         int        `json:"batch"`
	Local         bool       `json:"local"` // the address may be in a private network, and without TLS
	Status        string     `json:"status" enum:"active,failing,paused"`
	PauseReason   string     `json:"pause_reason,omitempty" enum:"owner,refused,gone,grant"`
	CreatedAt     time.Time  `json:"created_at"`
	PausedAt      *time.Time `json:"paused_at"`
	FailingSince  *time.Time `json:"failing_since"`
	LastFailure   string     `json:"last_failure"`
	NextAt        *time.Time `json:"next_attempt_at"`
	LastSuccessAt *time.Time `json:"last_success_at"`
	Deliveries    int64      `json:"deliveries"`
	Letters       []Letter   `json:"refused_deliveries"`
}

// Letter is a delivery that the address refused for good. A replay of it delivers the stream from there.
type Letter struct {
	ID        string    `json:"letter_id"`
	Stream    string    `json:"stream"`
	Changes   int       `json:"changes"`
	Reason    string    `json:"reason"`
	RefusedAt time.Time `json:"refused_at"`
}

// UsualBatch is how many changes a delivery holds at most, and MaxBatch the greatest number that may be chosen.
const (
	UsualBatch = 100
	MaxBatch   = 100
)

// Values of Since besides a cursor.
const (
	Beginning = "beginning"
	Now       = "now"
)

// NewWebhook adds a webhook.
type NewWebhook struct {
	Address string `json:"address"`
	Name    string `json:"name,omitempty"`
	// GrantID names a grant that limits it.
	GrantID      string   `json:"grant_id,omitempty"`
	ConnectionID string   `json:"connection_id,omitempty"`
	Streams      []string `json:"streams,omitempty"` // all by default
	// Since is now, which is the default, or beginning.
	Since string `json:"since,omitempty" enum:"now,beginning"`
	Batch int    `json:"batch,omitempty" minimum:"1" maximum:"100"` // most changes of one delivery; 100 by default
	Local bool   `json:"local,omitempty"`                           // allow a private address, and http
}

// Replay is where deliveries begin again: behind a cursor of a delivery, or at a refused one.
type Replay struct {
	Stream string `json:"stream,omitempty"`
	Since  string `json:"since,omitempty"` // next_changes_since of a delivery, beginning or now
	Letter string `json:"letter_id,omitempty"`
}

// Rotation is how a secret is replaced.
type Rotation struct {
	AtOnce bool `json:"at_once,omitempty"` // the old one signs no more
}

// TestResult is how a test went. Failure is empty for success.
type TestResult struct {
	Failure string `json:"failure"`
}
