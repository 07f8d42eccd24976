package routes

import (
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/view"
)

// fleet is all connections in one word. The word follows from the counts that a
// summary holds and from nothing else.
type fleet struct {
	State        string                 `json:"state" enum:"healthy,healthy_with_advisories,indeterminate,unhealthy"`
	FullyHealthy bool                   `json:"fully_healthy"`
	Scope        fleetScope             `json:"scope"`
	Dimensions   fleetDimensions        `json:"dimensions"`
	Summary      view.Summary           `json:"summary"`
	Indicator    *view.RuntimeIndicator `json:"runtime_indicator"`
	ObservedAt   time.Time              `json:"observed_at"`
}

type fleetScope struct {
	Connections int `json:"connections"`
}

type fleetDimensions struct {
	Runtime     string `json:"runtime" enum:"healthy,unhealthy"`
	Connections string `json:"connections" enum:"healthy,healthy_with_advisories,indeterminate,unhealthy"`
}

// Words of a fleet.
const (
	fleetHealthy       = "healthy"
	fleetAdvisories    = "healthy_with_advisories"
	fleetIndeterminate = "indeterminate"
	fleetUnhealthy     = "unhealthy"
)

func (s *surface) fleetHealth(r *http.Request) (fleet, error) {
	all, err := s.owner.Overview(r.Context())
	if err != nil {
		return fleet{}, err
	}
	f := fleet{
		Scope: fleetScope{all.Summary.Registered}, Summary: all.Summary, Indicator: all.Indicator, ObservedAt: all.ObservedAt,
		Dimensions: fleetDimensions{Runtime: fleetHealthy, Connections: connectionsWord(all.Summary)},
	}
	f.State = f.Dimensions.Connections
	if all.Indicator != nil {
		f.Dimensions.Runtime, f.State = fleetUnhealthy, fleetUnhealthy
	}
	f.FullyHealthy = f.State == fleetHealthy
	return f, nil
}

// connectionsWord takes the worst that is known first; what is not known is never
// healthy.
func connectionsWord(sum view.Summary) string {
	switch {
	case sum.Attention > 0 || sum.NeedsAttention > 0 || sum.Blocked > 0:
		return fleetUnhealthy
	case sum.Unknown > 0 || sum.Checking > 0:
		return fleetIndeterminate
	case sum.Advisory > 0 || sum.Visible > 0:
		return fleetAdvisories
	default:
		return fleetHealthy
	}
}
