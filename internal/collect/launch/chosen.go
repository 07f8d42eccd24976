package launch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// Settings keep small values.
type Settings interface {
	Setting(ctx context.Context, name string) ([]byte, error)
	PutSetting(ctx context.Context, name string, value []byte, now time.Time) error
}

// settingPath begins the name of the setting that holds a connector's path.
const settingPath = "connector_path:"

// AsChosen is the catalog in which foreign connectors start by what the owner set for them.
func AsChosen(c catalog.Catalog, kept Settings) catalog.Catalog {
	c.Chosen = func(ctx context.Context, name string) (string, error) {
		path, err := kept.Setting(ctx, settingPath+name)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return "", fmt.Errorf("read the path of connector %s: %w", name, err)
		}
		return string(path), nil
	}
	return c
}

// Choose keeps what the owner has a foreign connector started by; an empty path takes it back.
func Choose(ctx context.Context, kept Settings, name, path string, now time.Time) error {
	return kept.PutSetting(ctx, settingPath+name, []byte(path), now)
}
