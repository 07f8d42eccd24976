package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// ValueStore keep small values.
type ValueStore interface {
	Setting(ctx context.Context, name string) ([]byte, error)
	PutSetting(ctx context.Context, name string, value []byte, now time.Time) error
}

// settingChoice begins the name of the setting that holds the owner's choice for a connector, in JSON. Earlier
// versions stored only the path.
const settingChoice = "connector_path:"

// AsChosen is the catalog in which foreign connectors start by what the owner set for them.
func AsChosen(c catalog.Catalog, kept ValueStore) catalog.Catalog {
	c.Choices = func(ctx context.Context, key string) (choice catalog.Choice, err error) {
		value, err := kept.Setting(ctx, settingChoice+key)
		switch {
		case errors.Is(err, store.ErrNotFound):
			return choice, nil
		case err == nil && len(value) > 0 && value[0] != '{':
			return catalog.Choice{Path: string(value)}, nil
		case err == nil && len(value) > 0:
			err = json.Unmarshal(value, &choice)
		}
		if err != nil {
			return choice, fmt.Errorf("read what was set for connector %s: %w", key, err)
		}
		return choice, nil
	}
	return c
}

// Choose stores what the owner set for the foreign connector with a key.
func Choose(ctx context.Context, kept ValueStore, key string, choice catalog.Choice, now time.Time) error {
	value, err := json.Marshal(choice)
	if err != nil {
		return err
	}
	return kept.PutSetting(ctx, settingChoice+key, value, now)
}
