package audit

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// How long entries stay.
const (
	DefaultRetentionDays = 365
	MinRetentionDays     = 30
	MaxRetentionDays     = 3650

	retentionSetting = "audit_keep_days"
)

// RetentionStore stores the retention; every store.Store implements it.
type RetentionStore interface {
	Setting(ctx context.Context, name string) ([]byte, error)
	PutSetting(ctx context.Context, name string, value []byte, now time.Time) error
}

// RetentionDays returns for how many days entries stay.
func RetentionDays(ctx context.Context, s RetentionStore) (int, error) {
	kept, err := s.Setting(ctx, retentionSetting)
	if errors.Is(err, store.ErrNotFound) {
		return DefaultRetentionDays, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read how long the audit trail is kept: %w", err)
	}
	days, err := strconv.Atoi(string(kept))
	if err != nil || !isAllowedRetention(days) {
		return DefaultRetentionDays, nil
	}
	return days, nil
}

// ErrRetentionDays means that the number of days is out of range.
var ErrRetentionDays = fmt.Errorf("the audit trail is kept for %d to %d days", MinRetentionDays, MaxRetentionDays)

// SetRetentionDays changes for how many days entries stay.
func SetRetentionDays(ctx context.Context, s RetentionStore, days int, now time.Time) error {
	if !isAllowedRetention(days) {
		return ErrRetentionDays
	}
	return s.PutSetting(ctx, retentionSetting, strconv.AppendInt(nil, int64(days), 10), now)
}

func isAllowedRetention(days int) bool { return days >= MinRetentionDays && days <= MaxRetentionDays }

// Prune deletes the entries that are older than the retention.
func Prune(ctx context.Context, s interface {
	store.Audit
	RetentionStore
}, now time.Time) (gone int64, err error) {
	days, err := RetentionDays(ctx, s)
	if err != nil {
		return 0, err
	}
	if gone, err = s.PruneAudit(ctx, now.AddDate(0, 0, -days)); err != nil {
		return 0, fmt.Errorf("prune the audit trail: %w", err)
	}
	return gone, nil
}
