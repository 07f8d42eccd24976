package grants

import (
	"context"
	"errors"
	"fmt"

	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// ownerViews gives the streams that connectors declare, and those that have records
// although nobody declares them any more.
func (b *Service) ownerViews(ctx context.Context, stream, connectionID string) ([]View, error) {
	connections, err := b.connections(ctx, connectionID)
	if err != nil {
		return nil, err
	}
	stored, err := b.store.Streams(ctx, connectionID)
	if err != nil {
		return nil, fmt.Errorf("list streams: %w", err)
	}
	kept := map[string][]string{}
	for _, s := range stored {
		kept[s.ConnectionID] = append(kept[s.ConnectionID], s.Name)
	}
	var views []View
	for _, c := range connections {
		of, err := b.viewsOf(ctx, c, kept[c.ID], stream)
		if err != nil {
			return nil, err
		}
		views = append(views, of...)
	}
	if len(views) == 0 && (stream != "" || connectionID != "") {
		return nil, Refused(CodeNotFound, "", "There is no such stream.", "GET /v1/streams lists the streams.")
	}
	return views, nil
}

func (b *Service) connections(ctx context.Context, id string) ([]store.Connection, error) {
	if id == "" {
		all, err := b.store.ListConnections(ctx)
		if err != nil {
			return nil, fmt.Errorf("list connections: %w", err)
		}
		return all, nil
	}
	c, err := b.store.Connection(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, Refused(CodeNotFound, "connection_id", "There is no such connection.", "GET /v1/streams names the connections.")
	}
	if err != nil {
		return nil, fmt.Errorf("find connection: %w", err)
	}
	return []store.Connection{c}, nil
}

// viewsOf gives the views of one connection; an empty stream means all.
func (b *Service) viewsOf(ctx context.Context, c store.Connection, stored []string, stream string) ([]View, error) {
	src, err := b.sources.of(ctx, c.ConnectorID)
	if errors.Is(err, store.ErrNotFound) {
		src, err = &source{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find manifest: %w", err)
	}
	view := View{ConnectorID: c.ConnectorID, siblings: src.streams}
	var names []string
	if src.manifest != nil {
		view.ConnectorName = src.manifest.DisplayName
		for i := range src.manifest.Streams {
			names = append(names, src.manifest.Streams[i].Name)
		}
	}
	for _, name := range stored {
		if _, ok := src.streams[name]; !ok {
			names = append(names, name)
		}
	}
	var views []View
	for _, name := range names {
		if stream == "" || name == stream {
			view.stream, view.declared = Stream{ConnectionID: c.ID, Stream: name}, src.streams[name]
			views = append(views, view)
		}
	}
	return views, nil
}
