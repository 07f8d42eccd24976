package admin

import (
	"net/http"
	"net/url"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// connectionPart is what the pages on a part of one connection share.
type connectionPart struct {
	ID, Name string
	labels   map[string]string // of streams
	files    *api.FileImport   // that it takes; nil for none
	active   bool              // it was not ended
}

// part reads the connection named in the address. If there is none, it writes the response and
// returns false.
func (p *adminPages) part(w http.ResponseWriter, r *http.Request) (connectionPart, bool) {
	id := r.URL.Query().Get("source")
	if r.PathValue("id") != "" {
		var ok bool
		if id, ok = p.PathSegment(w, r, "id", "sources"); !ok {
			return connectionPart{}, false
		}
	}
	d, err := p.Owner.Connection(r.Context(), id)
	if err != nil {
		p.ShowFailure(w, r, "sources", err)
		return connectionPart{}, false
	}
	c := connectionPart{ID: d.ID, Name: d.DisplayName, labels: map[string]string{}}
	c.active = d.Status != "revoked"
	if d.Connector != nil {
		c.files = d.Connector.Files
		for _, s := range d.Connector.Streams {
			c.labels[s.Name] = s.Label
		}
	}
	return c, true
}

// label is what people call a stream.
func (c *connectionPart) label(stream string) string {
	if l := c.labels[stream]; l != "" {
		return l
	}
	return text.Name(stream)
}

// at is the address of a page below the connection's.
func (c *connectionPart) at(below string, q url.Values) string {
	return ui.QueryAddress("/sources/"+ui.Segment(c.ID)+below, q)
}

// changesBelow marks the page of changes among the parts of a connection.
const changesBelow = "/changes"

// partAddress returns the address of a part of the connection, as a tab names it.
func (c *connectionPart) partAddress(below string) string {
	if below == changesBelow {
		return c.changes(url.Values{})
	}
	return c.at(below, nil)
}

// changes returns the address of the connection's changes.
func (c *connectionPart) changes(q url.Values) string {
	q.Set("source", c.ID)
	return ui.QueryAddress("/changed", q)
}

// item is what something missing is called: its stream, and its key if it has one.
func (c *connectionPart) item(g *api.Gap) string {
	if g.RecordKey == "" {
		return c.label(g.Stream)
	}
	return c.label(g.Stream) + " " + text.Cut(text.Line(g.RecordKey), ui.LongestTitle)
}
