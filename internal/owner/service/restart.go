package service

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// ConnectionsOf returns the ids of the connections of a connector.
func ConnectionsOf(ctx context.Context, st store.Store, connector string) (ids []string, err error) {
	all, err := st.ListConnections(ctx)
	if err != nil {
		return nil, fmt.Errorf("list connections: %w", err)
	}
	for _, c := range all {
		if c.ConnectorID == connector {
			ids = append(ids, c.ID)
		}
	}
	return ids, nil
}

// RestartStreams makes the next run of a connection read every stream of m from its beginning. Records stay. It is for
// bookmarks that belong to another program.
func RestartStreams(ctx context.Context, st store.Store, connectionID string, m *manifest.Manifest,
	now time.Time) error {
	kept, err := Selections(st)(ctx, connectionID)
	if err != nil {
		return err
	}
	for i := range m.Streams {
		name := m.Streams[i].Name
		at := slices.IndexFunc(kept.Streams, func(s store.StreamSelection) bool { return s.Stream == name })
		if at < 0 {
			at, kept.Streams = len(kept.Streams), append(kept.Streams, store.StreamSelection{Stream: name})
		}
		kept.Streams[at].Since = now.UTC()
	}
	body, err := json.Marshal(kept)
	if err != nil {
		return fmt.Errorf("encode the selection: %w", err)
	}
	return st.PutSetting(ctx, store.SelectionSetting+connectionID, body, now)
}
