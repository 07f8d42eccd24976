// Package lookback serves the pages that look back: what sources changed or removed, and a year in numbers.
package lookback

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// Config is what the pages need. All members must be set.
type Config struct {
	Owner api.Owner
	// Now returns the time in the zone that pages show. Days begin in that zone.
	Now func() time.Time
	Log *slog.Logger
	// ChangesOfSource shows the changes of the one source that an address names.
	ChangesOfSource http.Handler
}

type backPages struct {
	Config
	*ui.Responder
}

// Addresses of the pages.
const (
	changedPage = "/changed"
	yearPage    = "/year"
	placesPage  = "/places"
)

// ChangedPattern is the route of the page of changes.
const ChangedPattern = "GET " + changedPage

// Routes returns the routes. All of them require a signed-in owner.
func Routes(c Config) []ui.Route {
	p := &backPages{c, ui.NewResponder(c.Owner, c.Now, c.Log)}
	return []ui.Route{
		{Pattern: ChangedPattern, Handler: http.HandlerFunc(p.changed)},
		{Pattern: "GET " + yearPage, Handler: http.HandlerFunc(p.thisYear)},
		{Pattern: "GET " + yearPage + "/{year}", Handler: http.HandlerFunc(p.year)},
	}
}
