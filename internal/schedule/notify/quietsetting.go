package notify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// quietSetting is the setting that holds the owner's quiet hours in the format of ParseQuiet.
const quietSetting = "notify_quiet_hours"

// LoadQuiet returns the owner's quiet hours; none if never set.
func LoadQuiet(ctx context.Context, kept store.PushTargets) (Quiet, error) {
	text, err := kept.Setting(ctx, quietSetting)
	if errors.Is(err, store.ErrNotFound) {
		return Quiet{}, nil
	}
	if err != nil {
		return Quiet{}, fmt.Errorf("read the quiet hours: %w", err)
	}
	return ParseQuiet(string(text))
}

// SaveQuiet stores the owner's quiet hours.
func SaveQuiet(ctx context.Context, kept store.PushTargets, q Quiet, now time.Time) error {
	if err := kept.PutSetting(ctx, quietSetting, []byte(q.String()), now); err != nil {
		return fmt.Errorf("keep the quiet hours: %w", err)
	}
	return nil
}
