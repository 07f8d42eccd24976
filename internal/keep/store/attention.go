package store

import (
	"context"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
)

// Attentions are the records of what the owner is asked to do.
type Attentions interface {
	// Attention lists records, the oldest first.
	Attention(ctx context.Context, q AttentionQuery) ([]attention.Record, error)
	// SaveAttention writes the records, and the request for a run if there is one,
	// all or nothing. A new record has revision zero. ErrStale when a record was
	// saved by somebody else since it was read, or when an open record of the same
	// key exists already. A request touches its connection.
	SaveAttention(ctx context.Context, records []attention.Record, run *RunRequest) error
}

// AttentionQuery narrows Attention. Zero values mean no filter.
type AttentionQuery struct {
	ConnectionIDs []string // nil means all; an empty list that is not nil names none
	// ClosedSince adds records that were closed at or after the moment to the open
	// ones; All adds every closed one.
	ClosedSince *time.Time
	All         bool
	// Notice keeps the records in that state of their push.
	Notice attention.Notice
}

// PushTargets are where the owner wants to be told, and Settings small values
// that every process shares.
type PushTargets interface {
	// PutTarget replaces the target of the same id, or adds it. ErrExists when
	// another target has the endpoint.
	PutTarget(ctx context.Context, t PushTarget) error
	// Targets orders by creation, then id, retired ones included.
	Targets(ctx context.Context) ([]PushTarget, error)
	DeleteTarget(ctx context.Context, id string) error

	// Setting gives a value; ErrNotFound when it was never set.
	Setting(ctx context.Context, name string) ([]byte, error)
	PutSetting(ctx context.Context, name string, value []byte, now time.Time) error
	// InitSetting sets a value unless there is one, and gives the one that counts:
	// of several processes that start at once, all get the same.
	InitSetting(ctx context.Context, name string, value []byte, now time.Time) ([]byte, error)
}

// TargetKind is how a target is reached.
type TargetKind string

const (
	TargetWebPush TargetKind = "web_push"
	TargetWebhook TargetKind = "webhook"
	TargetNtfy    TargetKind = "ntfy"
)

// PushTarget is one place where pushes go.
type PushTarget struct {
	ID       string
	Kind     TargetKind
	Label    string
	Endpoint string
	// P256DH and Auth are a browser's keys; Sealed is a webhook's secret, sealed.
	P256DH, Auth string
	Sealed       []byte
	CreatedAt    time.Time
	// Failures counts those in a row.
	Failures      int
	LastSuccessAt *time.Time
	LastFailureAt *time.Time
	LastFailure   string // in a word
	RetiredAt     *time.Time
}
