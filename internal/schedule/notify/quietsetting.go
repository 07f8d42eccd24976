package notify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// quietSetting is where the owner's quiet hours are kept, as ParseQuiet reads them.
const quietSetting = "notify_quiet_hours"

// LoadQuiet gives the owner's quiet hours; none when they never set any.
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

// SaveQuiet keeps the owner's quiet hours.
func SaveQuiet(ctx context.Context, kept store.PushTargets, q Quiet, now time.Time) error {
	if err := kept.PutSetting(ctx, quietSetting, []byte(q.String()), now); err != nil {
		return fmt.Errorf("keep the quiet hours: %w", err)
	}
	return nil
}
