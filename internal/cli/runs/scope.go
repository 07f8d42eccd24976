package runs

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/connectors"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/owner/service"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// parseScope turns --stream, --resource, --since and --until into a scope. Nil means everything that the connector
// supports. It reports mistakes before a run is created.
func parseScope(m *manifest.Manifest, f runFlags) ([]protocol.StreamScope, error) {
	bounds, err := parseTimeRange(f.since, f.until)
	if err != nil {
		return nil, err
	}
	chosen, err := arguments.ParseResources(f.resources)
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
	names = arguments.WithoutRepeats(names)
	if len(names) == 0 {
		for _, sc := range m.DefaultScope() {
			names = append(names, sc.Name)
		}
	}
	var scope []protocol.StreamScope
	for _, name := range names {
		decl, ok := m.Stream(name)
		if !ok {
			return nil, failure.UsageError(fmt.Sprintf("%s has no stream %q", m.DisplayName, name), "Its streams are: "+
				strings.Join(connectors.StreamNames(m), ", "))
		}
		s := protocol.StreamScope{Name: name}
		if i := slices.IndexFunc(single, func(c protocol.StreamScope) bool { return c.Name == name }); i >= 0 {
			s = single[i]
		}
		if decl.ConsentTimeField != "" {
			s.TimeRange = bounds
		} else if bounds != nil && len(f.streams)+len(single) > 0 {
			return nil, failure.UsageError(fmt.Sprintf("stream %s has no time, so --since and --until cannot narrow it", name),
				"Leave them out, or leave out the stream.")
		}
		scope = append(scope, s)
	}
	return scope, nil
}

func parseTimeRange(since, until string) (*protocol.TimeRange, error) {
	if since == "" && until == "" {
		return nil, nil
	}
	from, err := arguments.ParseMoment("--since", since)
	if err != nil {
		return nil, err
	}
	to, err := arguments.ParseMoment("--until", until)
	if err != nil {
		return nil, err
	}
	if since != "" && until != "" && !from.Before(to) {
		return nil, failure.UsageError("--since is not before --until", "Exchange them, or leave one out.")
	}
	return &protocol.TimeRange{Since: formatWireTime(from), Until: formatWireTime(to)}, nil
}

func formatWireTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
