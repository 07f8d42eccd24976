package grants

import (
	"context"
	"errors"
	"fmt"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// ownerViews returns the declared streams, and those that have records but are no longer declared.
func (b *Service) ownerViews(ctx context.Context, stream, connectionID string) ([]StreamView, error) {
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
	var views []StreamView
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
		return nil, Refused(CodeNotFound, "connection_id", "There is no such connection.",
			"GET /v1/streams names the connections.")
	}
	if err != nil {
		return nil, fmt.Errorf("find connection: %w", err)
	}
	return []store.Connection{c}, nil
}

// viewsOf returns the views of one connection; an empty stream means all.
func (b *Service) viewsOf(
	ctx context.Context,
	c store.Connection,
	stored []string,
	stream string,
) ([]StreamView, error) {
	src, err := b.sources.sourceOf(ctx, c.ConnectorID)
	if errors.Is(err, store.ErrNotFound) {
		src, err = &manifestSource{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find manifest: %w", err)
	}
	view := StreamView{ConnectorID: c.ConnectorID, siblings: src.streams}
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
	var views []StreamView
	for _, name := range names {
		if stream == "" || name == stream {
			view.stream, view.declared = Stream{ConnectionID: c.ID, Stream: name}, src.streams[name]
			views = append(views, view)
		}
	}
	return views, nil
}
