package store

import (
	"context"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
)

// Attentions stores the requests to the owner.
type Attentions interface {
	// Attention lists records, oldest first.
	Attention(ctx context.Context, q AttentionQuery) ([]attention.AttentionRecord, error)
	// SaveAttention writes the records, and the request for a run if there is one, in one transaction. A new record
	// has revision zero. It returns ErrStale when a record was changed since it was read, or when an open record with
	// the same key exists. A run request marks its connection as changed.
	SaveAttention(ctx context.Context, records []attention.AttentionRecord, run *RunRequest) error
}

// AttentionQuery filters Attention. Zero values mean no filter.
type AttentionQuery struct {
	ConnectionIDs []string // nil means all; an empty list means none
	// ClosedSince adds records that were closed at or after this time to the open ones. All adds every closed one.
	ClosedSince *time.Time
	All         bool
	// Notice selects records by the state of their push.
	Notice attention.Notice
}

// PushTargets stores where the owner is notified, and Settings stores small values that all processes share.
type PushTargets interface {
	// PutTarget adds or replaces the target with this id. It returns ErrExists when another target has the endpoint.
	PutTarget(ctx context.Context, t PushTarget) error
	// Targets lists by creation, then id, including retired ones.
	Targets(ctx context.Context) ([]PushTarget, error)
	DeleteTarget(ctx context.Context, id string) error

	// Setting returns a value, or ErrNotFound when it was never set.
	Setting(ctx context.Context, name string) ([]byte, error)
	PutSetting(ctx context.Context, name string, value []byte, now time.Time) error
	// InitSetting sets a value if there is none, and returns the stored one. Processes that start at the same time
	// all get the same value.
	InitSetting(ctx context.Context, name string, value []byte, now time.Time) ([]byte, error)
}

// TargetKind is how a target receives pushes.
type TargetKind string

const (
	TargetWebPush TargetKind = "web_push"
	TargetWebhook TargetKind = "webhook"
	TargetNtfy    TargetKind = "ntfy"
)

// PushTarget is one destination of pushes.
type PushTarget struct {
	ID       string
	Kind     TargetKind
	Label    string
	Endpoint string
	// P256DH and Auth are a browser's keys. Sealed is a webhook's sealed secret.
	P256DH, Auth string
	Sealed       []byte
	CreatedAt    time.Time
	// Failures counts consecutive failures.
	Failures      int
	LastSuccessAt *time.Time
	LastFailureAt *time.Time
	LastFailure   string // one word
	RetiredAt     *time.Time
}
