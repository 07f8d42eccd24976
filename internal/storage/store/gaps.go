package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/protocol"
)

// Gaps stores what could not be fetched.
type Gaps interface {
	// LeaseGaps claims up to q.Limit eligible pending gaps for the run, in rotation order (see RotationRank), each
	// under its own token. A run gets each gap only once. A lease does not count as an attempt.
	LeaseGaps(ctx context.Context, l Lease, q GapPage, now time.Time) ([]Gap, error)
	// ReleaseGaps returns leased gaps without an outcome to pending, unchanged, so that they can be leased again.
	ReleaseGaps(ctx context.Context, l Lease, gapIDs []string, now time.Time) error
	// AccountedKeys returns those of the keys that have a gap of this stream and parent with status pending,
	// in_progress or recovered.
	AccountedKeys(ctx context.Context, connectionID, stream, parent string, keys []string) (map[string]bool, error)

	Gap(ctx context.Context, gapID string) (Gap, error)
	// ListGaps lists by creation, then id.
	ListGaps(ctx context.Context, q GapQuery) ([]Gap, error)
	// RetryGap makes a terminal or waiting gap eligible at once: pending, no attempts, no earliest time. It undoes an
	// ignore. It returns ErrNotFound for recovered gaps.
	RetryGap(ctx context.Context, gapID string, now time.Time) (Gap, error)
	// IgnoreGap makes a gap terminal with the owner's reason, which may not be blank. It returns ErrNotFound for
	// recovered gaps.
	IgnoreGap(ctx context.Context, gapID, why string, now time.Time) (Gap, error)
}

// Gap is one row of connector_detail_gaps.
type Gap struct {
	ID             string             `json:"gap_id"`
	ConnectionID   string             `json:"connection_id"`
	ConnectorID    string             `json:"connector_id"`
	GrantID        string             `json:"grant_id,omitzero"`
	Stream         string             `json:"stream"`
	ParentStream   string             `json:"parent_stream,omitzero"`
	RecordKey      string             `json:"record_key,omitzero"`
	Reason         protocol.Reason    `json:"reason"`
	Status         protocol.GapStatus `json:"status"`
	Locator        jsontext.Value     `json:"detail_locator,omitzero"`
	ListCursor     jsontext.Value     `json:"list_cursor,omitzero"`
	LastError      jsontext.Value     `json:"last_error,omitzero"`
	AttemptCount   int                `json:"attempt_count"`
	LastAttemptAt  *time.Time         `json:"last_attempt_at"`
	NotBefore      *time.Time         `json:"next_attempt_after"`
	DiscoveredRun  string             `json:"discovered_run_id"`
	LastRun        string             `json:"last_run_id"`
	RecoveredRun   string             `json:"recovered_run_id,omitzero"`
	LeaseRun       string             `json:"lease_run_id,omitzero"`
	LeaseID        string             `json:"-"`
	LeaseAttempted bool               `json:"-"`
	IgnoredWhy     string             `json:"ignored_why,omitzero"`
	CreatedAt      time.Time          `json:"created_at"`
	UpdatedAt      time.Time          `json:"updated_at"`
}

// GapPage is one claim. Page numbers the claims of a run from 1 and is part of the tokens.
type GapPage struct {
	Streams []string // empty means all
	// SparePressure leaves out gaps that were deferred because of the source's rate limit.
	SparePressure bool
	Limit         int
	Page          int
	TTL           time.Duration
}

// GapQuery filters ListGaps. Limit 0 means 100.
type GapQuery struct {
	ConnectionID string
	Stream       string
	Status       protocol.GapStatus
	Missing      bool // leave out recovered gaps
	Limit        int
}

// GapID returns the stable identity of a gap. The same missing item has the same id even when its locator changes,
// because a known record key takes precedence over the locator.
func GapID(connectionID, grantID string, w slice.Gap) string {
	identity := "key:" + w.RecordKey
	if w.RecordKey == "" {
		identity = "loc:" + string(w.Locator)
	}
	b, err := json.Marshal([]string{connectionID, grantID, w.Stream, w.ParentStream, identity})
	if err != nil {
		b = []byte(connectionID + "\x00" + grantID + "\x00" + w.Stream + "\x00" + w.ParentStream + "\x00" + identity)
	}
	sum := sha256.Sum256(b)
	return "gap_" + hex.EncodeToString(sum[:])[:32]
}

// Rotation constants: a failing gap moves behind fresh ones with each attempt and forward again as it waits, so that
// no gap starves (PB-A10).
const (
	RotationCap  = 8
	rotationStep = 15 * time.Minute
)

// RotationRank orders gaps for recovery: lowest first, then longest waiting, then lowest id.
func RotationRank(attempts int, lastAttempt, created, now time.Time) int {
	since := lastAttempt
	if since.IsZero() {
		since = created
	}
	waited := int(now.Sub(since) / rotationStep)
	return min(attempts, RotationCap) - min(RotationCap, max(0, waited))
}

// RotationSteps returns the times at which a waiting gap's rank decreases: step i applies when the last attempt, or
// else the creation, is not after the i-th time. With it, SQL can compute the rank.
func RotationSteps(now time.Time) []time.Time {
	steps := make([]time.Time, RotationCap)
	for i := range steps {
		steps[i] = now.Add(-time.Duration(i+1) * rotationStep)
	}
	return steps
}
