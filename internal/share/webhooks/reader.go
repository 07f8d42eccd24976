package webhooks

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/share/readapi"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// NewReader returns what pages of changes are read with. Their cursors are those of GET /v1/changes.
func NewReader(ctx context.Context, st store.Store, g *grants.Service, trail *audit.Trail, log *slog.Logger,
	now func() time.Time) (*readapi.API, error) {
	cursors, err := grants.NewCursors(ctx, st, now())
	if err != nil {
		return nil, fmt.Errorf("make the key of cursors: %w", err)
	}
	return readapi.New(readapi.Config{Grants: g, Cursors: cursors, Store: st, Audit: trail, Now: now, Log: log}), nil
}
