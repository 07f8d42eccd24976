package browse

import (
	"net/http"
	"strconv"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// newerPage is the address of the part of a page that counts what has arrived since the page was made.
const newerPage = "/newer"

// arrivals counts what has arrived since a page was made. Pages ask for it once a minute, if scripts run.
type arrivals struct {
	Held int64  // how many things the home held when the page was made
	New  int64  // how many more there are now
	Page string // the page that shows them
}

// arrivalsFor returns the part of a page that shows how many things have arrived since.
func arrivalsFor(all *things.Streams, page string) arrivals {
	return arrivals{Held: all.Held(), Page: page}
}

func (p *browsePages) newer(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	held, err := strconv.ParseInt(q.Get("held"), 10, 64)
	part := arrivals{Held: held, Page: "/timeline"}
	if q.Get("page") == "/" {
		part.Page = "/"
	}
	var all *things.Streams
	if err == nil {
		all, err = p.streams(r.Context())
	}
	if err != nil {
		p.LogFailure(r, err)
		w.WriteHeader(http.StatusNoContent) // htmx leaves the page as it is
		return
	}
	part.New = max(0, all.Held()-held)
	ui.Render(w, r, http.StatusOK, newerPart(part))
}

// words are the link to the newer things.
func (a arrivals) words() string { return text.Number(a.New) + " newer" }

// again is the address that counts again.
func (a arrivals) again() string {
	return newerPage + "?held=" + strconv.FormatInt(a.Held, 10) + "&page=" + a.Page
}
