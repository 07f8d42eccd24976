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

// Gaps are durable records of what could not be fetched.
type Gaps interface {
	// LeaseGaps claims up to q.Limit eligible pending gaps for the run, in
	// rotation order (see RotationRank), each under its own token. A gap that
	// this run has already been served is not served again. Leasing is not an attempt.
	LeaseGaps(ctx context.Context, l Lease, q GapPage, now time.Time) ([]Gap, error)
	// ReleaseGaps returns leased, unsettled gaps to pending, untouched, so that they can be served again.
	ReleaseGaps(ctx context.Context, l Lease, gapIDs []string, now time.Time) error
	// AccountedKeys gives those of keys that a gap of this stream and parent
	// with status pending, in_progress or recovered stands for.
	AccountedKeys(ctx context.Context, connectionID, stream, parent string, keys []string) (map[string]bool, error)

	Gap(ctx context.Context, gapID string) (Gap, error)
	// ListGaps orders by creation, then id.
	ListGaps(ctx context.Context, q GapQuery) ([]Gap, error)
	// RetryGap makes a terminal or waiting gap eligible at once: pending,
	// attempts zero, no floor. It undoes an ignore. Not for recovered gaps (ErrNotFound).
	RetryGap(ctx context.Context, gapID string, now time.Time) (Gap, error)
	// IgnoreGap makes a gap terminal with the owner's reason, which may not be
	// blank. Not for recovered gaps (ErrNotFound).
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
	// SparePressure leaves out what the source's pressure deferred.
	SparePressure bool
	Limit         int
	Page          int
	TTL           time.Duration
}

// GapQuery narrows ListGaps. Limit 0 means 100.
type GapQuery struct {
	ConnectionID string
	Stream       string
	Status       protocol.GapStatus
	Missing      bool // leave out what has been recovered
	Limit        int
}

// GapID is the stable identity of a gap: the same miss is the same gap, even
// when its locator drifts, because a known record key outranks the locator.
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

// Rotation constants: a failing gap sinks behind fresh ones by its attempts,
// and rises again as it waits, so that no gap starves (PB-A10).
const (
	RotationCap  = 8
	rotationStep = 15 * time.Minute
)

// RotationRank orders gaps for recovery; the lowest goes first, ties go to the
// one that waited longest, then to the lower id.
func RotationRank(attempts int, lastAttempt, created, now time.Time) int {
	since := lastAttempt
	if since.IsZero() {
		since = created
	}
	waited := int(now.Sub(since) / rotationStep)
	return min(attempts, RotationCap) - min(RotationCap, max(0, waited))
}

// RotationSteps gives the moments at which a waiting gap's rank falls: a gap
// waits since long enough for step i when its last attempt, or else its
// creation, is not after the i-th moment. It lets a database compute the rank.
func RotationSteps(now time.Time) []time.Time {
	steps := make([]time.Time, RotationCap)
	for i := range steps {
		steps[i] = now.Add(-time.Duration(i+1) * rotationStep)
	}
	return steps
}
