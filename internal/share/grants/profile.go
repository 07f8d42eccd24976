package grants

import (
	"context"
	"errors"
	"slices"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// ProfileOf is a named selection of streams of a connection, declared by its connector. A grant contains its current
// streams and does not change with it.
type ProfileOf struct {
	ConnectionID string
	Profile      string
}

// withProfiles adds the streams of profiles to a scope.
func (b *Service) withProfiles(
	ctx context.Context,
	scope GrantedStreams,
	profiles []ProfileOf,
) (GrantedStreams, error) {
	scope = slices.Clone(scope)
	for _, p := range profiles {
		refused := invalid("profiles", "The connection has no profile "+printableName(p.Profile)+".",
			"Choose a profile that its connector declares.")
		c, err := b.store.Connection(ctx, p.ConnectionID)
		if errors.Is(err, store.ErrNotFound) {
			return nil, refused
		}
		if err != nil {
			return nil, missing("find connection", err)
		}
		src, err := b.sources.sourceOf(ctx, c.ConnectorID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, missing("find manifest", err)
		}
		streams := src.profile(p.Profile)
		if len(streams) == 0 {
			return nil, refused
		}
		for _, s := range streams {
			s.ConnectionID = c.ID
			scope = append(scope, s)
		}
	}
	return scope, nil
}

// profile is what a profile selects of a connector's streams; nothing when there is none.
func (s *manifestSource) profile(id string) (out []Stream) {
	if s == nil || s.manifest.Profile(id) == nil {
		return nil
	}
	for _, p := range s.manifest.Profile(id).Streams {
		part := Stream{Stream: p.Name}
		if p.View != "" {
			part.Fields = []string{ViewMark + p.View}
		}
		out = append(out, part)
	}
	return out
}
