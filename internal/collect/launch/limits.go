package launch

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pdpp-go/pdpp/manifest"
)

// stricterLimits reports for each limit, by its name without the connector's prefix, which of two values is stricter.
// A limit can only make a run slower or shorter than the owner's setting for all connections.
var stricterLimits = map[string]func(a, b float64) bool{
	"_PACING_MIN_INTERVAL_MS":      func(a, b float64) bool { return a > b },
	"_MAX_RUN_WALL_CLOCK_MS":       func(a, b float64) bool { return b <= 0 || a < b },
	"_MAX_WHOLE_RUN_WALL_CLOCK_MS": func(a, b float64) bool { return b <= 0 || a < b },
	"_MAX_DETAIL_FETCHES_PER_RUN":  func(a, b float64) bool { return b <= 0 || a < b },
}

// ownerLimits returns the variables with the owner's limits of one connection. It ignores names of other variables.
func (l *Launcher) ownerLimits(ctx context.Context, connectionID string, m *manifest.Manifest) (map[string]string,
	error) {
	if l.Limits == nil {
		return nil, nil
	}
	given, err := l.Limits(ctx, connectionID)
	if err != nil {
		return nil, fmt.Errorf("read the limits: %w", err)
	}
	out := map[string]string{}
	const details, whole = "_MAX_RUN_WALL_CLOCK_MS", "_MAX_WHOLE_RUN_WALL_CLOCK_MS"
	names := m.EnvNames()
	declares := func(name string) bool { return slices.Contains(names, m.EnvPrefix()+name) }
	if given[whole] == "" && declares(whole) && !declares(details) {
		given[whole] = given[details] // set when that limit was of the whole run
	}
	for name, value := range given {
		stricter, known := stricterLimits[name]
		limit, err := strconv.ParseFloat(value, 64)
		if !known || err != nil || limit <= 0 {
			continue
		}
		full := m.EnvPrefix() + name
		if l.Lookup != nil {
			if text, ok := l.Lookup(full); ok {
				if general, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil && !stricter(limit, general) {
					continue
				}
			}
		}
		out[full] = value
	}
	return out, nil
}
