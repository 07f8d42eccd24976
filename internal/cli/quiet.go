package cli

import (
	"context"
	"errors"
	"fmt"

	"pdpp/internal/notify"
	"pdpp/internal/store"
)

// settingQuiet is where the owner's quiet hours are kept, as ParseQuiet reads them.
const settingQuiet = "notify_quiet_hours"

// quietHours are the owner's; none when they never set any.
func quietHours(ctx context.Context, kept store.PushTargets) (notify.Quiet, error) {
	text, err := kept.Setting(ctx, settingQuiet)
	if errors.Is(err, store.ErrNotFound) {
		return notify.Quiet{}, nil
	}
	if err != nil {
		return notify.Quiet{}, fmt.Errorf("read the quiet hours: %w", err)
	}
	return notify.ParseQuiet(string(text))
}
