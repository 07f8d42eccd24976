package launch

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// scope is what a run collects, and which of its streams it collects from the start.
type scope struct {
	streams []protocol.StreamScope // empty means everything
	singled []string
	since   map[string]time.Time // when the owner last chose, by stream
}

// singleRecordStreams names the streams of which single records are asked for. Their bookmarks are
// neither used, since what is wanted may lie behind them, nor moved, since what was not
// asked for lies before them.
func singleRecordStreams(requested []protocol.StreamScope) (names []string) {
	for _, s := range requested {
		if len(s.Resources) > 0 {
			names = append(names, s.Name)
		}
	}
	return names
}

// ReasonSelection ends a run when the connector does not declare what the owner selected. It is not started: without
// the selection it would collect what the owner left out.
const ReasonSelection runner.Reason = "selection_not_declared"

// runScope narrows what is requested by the owner's choice.
func (l *Launcher) runScope(ctx context.Context, connectionID string, m *manifest.Manifest,
	requested []protocol.StreamScope) (scope, error) {
	out := scope{streams: requested, singled: singleRecordStreams(requested), since: map[string]time.Time{}}
	if l.Selected == nil {
		return out, nil
	}
	chosen, err := l.Selected(ctx, connectionID)
	if err != nil {
		return out, fmt.Errorf("read what is selected: %w", err)
	}
	if chosen.Profile == "" && len(chosen.Streams) == 0 && len(chosen.Deleted) == 0 {
		return out, nil
	}
	// A request may be older than a deletion, and a grant may name more than is left. Only a request for nothing but
	// deleted streams is refused.
	left := slices.DeleteFunc(slices.Clone(requested),
		func(s protocol.StreamScope) bool { return slices.Contains(chosen.Deleted, s.Name) })
	if len(left) == 0 {
		left = requested
	}
	if out.streams, err = m.Choose(left, chosen.Profile, chosen.Views(), chosen.Deleted); err != nil {
		return out, err
	}
	for _, c := range chosen.Streams {
		out.since[c.Stream] = c.Since
		for i := range out.streams {
			if s := &out.streams[i]; s.Name == c.Stream && len(s.Resources) == 0 {
				s.Resources = c.Resources
			}
		}
	}
	return out, nil
}

// startsOver reports whether the bookmark does not fit what the run collects.
func (s *scope) startsOver(c store.Cursor) bool {
	return slices.Contains(s.singled, c.Stream) || c.At.Before(s.since[c.Stream])
}
