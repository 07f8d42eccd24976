package serve

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/schedule/repair"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// repairStore is the store as the watcher of repairs uses it.
type repairStore struct {
	store store.Store
	now   func() time.Time
}

func (b repairStore) Records(
	ctx context.Context,
	connectionIDs []string,
	closedSince time.Time,
) ([]attention.AttentionRecord,
	error) {
	return b.store.Attention(ctx, store.AttentionQuery{ConnectionIDs: connectionIDs, ClosedSince: &closedSince})
}

func (b repairStore) Save(ctx context.Context, records []attention.AttentionRecord, run string) error {
	var request *store.RunRequest
	if run != "" {
		request = &store.RunRequest{ConnectionID: run, Trigger: store.TriggerRetry, RequestedAt: b.now()}
	}
	err := b.store.SaveAttention(ctx, records, request)
	if errors.Is(err, store.ErrStale) {
		return fmt.Errorf("%w: %w", repair.ErrStale, err)
	}
	return err
}

func (b repairStore) EnableSchedule(ctx context.Context, connectionID string, now time.Time) (bool, error) {
	s, err := b.store.Schedule(ctx, connectionID)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil || s.Enabled {
		return err == nil, err
	}
	s.Enabled, s.UpdatedAt = true, now
	return true, b.store.PutSchedule(ctx, s)
}
