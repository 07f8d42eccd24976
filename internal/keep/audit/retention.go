package audit

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// How long entries stay.
const (
	DefaultKeepDays = 365
	MinKeepDays     = 30
	MaxKeepDays     = 3650

	settingKeep = "audit_keep_days"
)

// Settings is where the owner's word on it is kept; every store.Store has them.
type Settings interface {
	Setting(ctx context.Context, name string) ([]byte, error)
	PutSetting(ctx context.Context, name string, value []byte, now time.Time) error
}

// KeepDays gives for how many days entries stay.
func KeepDays(ctx context.Context, s Settings) (int, error) {
	kept, err := s.Setting(ctx, settingKeep)
	if errors.Is(err, store.ErrNotFound) {
		return DefaultKeepDays, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read how long the audit trail is kept: %w", err)
	}
	days, err := strconv.Atoi(string(kept))
	if err != nil || !acceptable(days) {
		return DefaultKeepDays, nil
	}
	return days, nil
}

// ErrKeepDays says that entries cannot be kept for so many days.
var ErrKeepDays = fmt.Errorf("the audit trail is kept for %d to %d days", MinKeepDays, MaxKeepDays)

// SetKeepDays changes for how many days entries stay.
func SetKeepDays(ctx context.Context, s Settings, days int, now time.Time) error {
	if !acceptable(days) {
		return ErrKeepDays
	}
	return s.PutSetting(ctx, settingKeep, strconv.AppendInt(nil, int64(days), 10), now)
}

func acceptable(days int) bool { return days >= MinKeepDays && days <= MaxKeepDays }

// Prune takes away the entries that are older than the owner wants.
func Prune(ctx context.Context, s interface {
	store.Audit
	Settings
}, now time.Time) (gone int64, err error) {
	days, err := KeepDays(ctx, s)
	if err != nil {
		return 0, err
	}
	if gone, err = s.PruneAudit(ctx, now.AddDate(0, 0, -days)); err != nil {
		return 0, fmt.Errorf("prune the audit trail: %w", err)
	}
	return gone, nil
}
