package records

import (
	"github.com/a-h/templ"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// YearHeat draws the days of the last year, by how many records each has.
func YearHeat(kept api.Kept) templ.Component {
	page := newOverview(kept)
	return yearHeat(&page)
}
