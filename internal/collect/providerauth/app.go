package providerauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// App is how this server is registered at a provider.
type App struct {
	ID     string
	Secret credential.Secret // empty: the app has none
	// Fixed means that the operator set it by variables, so that it cannot be entered.
	Fixed bool
}

// settingApp begins the name of the setting that holds a connector's registration, sealed.
const settingApp = "provider_app:"

type plainApp struct {
	ID     string `json:"client_id"`
	Secret string `json:"client_secret,omitempty"`
}

// App returns the app registration: the operator's variables, or else what the owner entered. The error is a fault
// with CodeNoApp when there is neither.
func (k *Keeper) App(ctx context.Context, s SignInSource) (App, error) {
	o := s.Manifest.OAuth()
	if id := k.variable(o.ClientIDEnv); id != "" {
		return App{ID: id, Secret: credential.NewSecret(k.variable(o.ClientSecretEnv)), Fixed: true}, nil
	}
	sealed, err := k.Store.Setting(ctx, settingApp+s.ConnectorID)
	if errors.Is(err, store.ErrNotFound) {
		return App{}, refusal(http.StatusConflict, CodeNoApp, "This server has no app at "+s.Manifest.DisplayName+" yet.",
			"Register one there, and enter its number; or set "+o.ClientIDEnv+".")
	}
	if err != nil {
		return App{}, fmt.Errorf("read the registration: %w", err)
	}
	key, err := k.Key()
	if err != nil {
		return App{}, fmt.Errorf("load the key that seals credentials: %w", err)
	}
	text, err := key.Open(appPlace(s.ConnectorID), sealed)
	if err != nil {
		return App{}, err
	}
	var p plainApp
	if err := json.Unmarshal(text, &p); err != nil {
		return App{}, credential.ErrDamaged // not of the decoder's making: its text would show what it met
	}
	return App{ID: p.ID, Secret: credential.NewSecret(p.Secret)}, nil
}

// SetApp keeps a registration, sealed.
func (k *Keeper) SetApp(ctx context.Context, s SignInSource, id, secret string) error {
	id, secret = strings.TrimSpace(id), strings.TrimSpace(secret)
	if id == "" || len(id)+len(secret) > 4096 {
		return refusal(http.StatusBadRequest, CodeNoApp, "The number of the app is missing.",
			"Enter what the provider shows.")
	}
	key, err := k.Key()
	if err != nil {
		return fmt.Errorf("load the key that seals credentials: %w", err)
	}
	b, err := json.Marshal(plainApp{id, secret})
	if err != nil {
		return fmt.Errorf("encode the registration: %w", err)
	}
	return k.Store.PutSetting(ctx, settingApp+s.ConnectorID, key.Seal(appPlace(s.ConnectorID), b), k.now())
}

func appPlace(connectorID string) string { return "provider_app/" + connectorID }

func (k *Keeper) variable(name string) string {
	if name == "" || k.Lookup == nil {
		return ""
	}
	value, _ := k.Lookup(name)
	return strings.TrimSpace(value)
}
