package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/service"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// scopeOf turns --stream, --resource, --since and --until into a scope; nil means everything
// that the connector supports. Mistakes are found here, before a run is made.
func scopeOf(m *manifest.Manifest, f runFlags) ([]protocol.StreamScope, error) {
	bounds, err := timeRange(f.since, f.until)
	if err != nil {
		return nil, err
	}
	chosen, err := selectionOf(f.resources)
	if err != nil {
		return nil, err
	}
	single, err := service.SelectionScope(m, chosen)
	if err != nil {
		return nil, err
	}
	if len(f.streams) == 0 && len(single) == 0 && bounds == nil {
		return nil, nil
	}
	names := slices.Clone(f.streams)
	for _, s := range single {
		names = append(names, s.Name)
	}
	names = unique(names)
	if len(names) == 0 {
		for _, sc := range m.DefaultScope() {
			names = append(names, sc.Name)
		}
	}
	var scope []protocol.StreamScope
	for _, name := range names {
		decl, ok := m.Stream(name)
		if !ok {
			return nil, usage(fmt.Sprintf("%s has no stream %q", m.DisplayName, name), "Its streams are: "+strings.Join(streamNames(m), ", "))
		}
		s := protocol.StreamScope{Name: name}
		if i := slices.IndexFunc(single, func(c protocol.StreamScope) bool { return c.Name == name }); i >= 0 {
			s = single[i]
		}
		if decl.ConsentTimeField != "" {
			s.TimeRange = bounds
		} else if bounds != nil && len(f.streams)+len(single) > 0 {
			return nil, usage(fmt.Sprintf("stream %s has no time, so --since and --until cannot narrow it", name), "Leave them out, or leave out the stream.")
		}
		scope = append(scope, s)
	}
	return scope, nil
}

func timeRange(since, until string) (*protocol.TimeRange, error) {
	if since == "" && until == "" {
		return nil, nil
	}
	from, err := moment("--since", since)
	if err != nil {
		return nil, err
	}
	to, err := moment("--until", until)
	if err != nil {
		return nil, err
	}
	if since != "" && until != "" && !from.Before(to) {
		return nil, usage("--since is not before --until", "Exchange them, or leave one out.")
	}
	return &protocol.TimeRange{Since: wireTime(from), Until: wireTime(to)}, nil
}

// moment reads an instant, or a day, which begins at midnight where the owner is.
func moment(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return t, nil
	}
	t, err := time.ParseInLocation(time.DateOnly, text, time.Local)
	if err != nil {
		return time.Time{}, usage(fmt.Sprintf("%s %q is not a time", flag, text), "Write a date like 2026-03-01 or a time like 2026-03-01T08:00:00Z.")
	}
	return t, nil
}

func wireTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func streamNames(m *manifest.Manifest) []string {
	names := make([]string, len(m.Streams))
	for i := range m.Streams {
		names[i] = m.Streams[i].Name
	}
	return names
}
