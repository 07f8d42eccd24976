package manage

import (
	"net/http"
	"net/url"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// connectionPart is what the pages on a part of one connection share.
type connectionPart struct {
	ID, Name string
	labels   map[string]string // of streams
	files    *api.FileImport   // that it takes; nil for none
	active   bool              // it was not ended
}

// part reads the connection that the address names. When there is none it answers, and
// gives false.
func (p *pages) part(w http.ResponseWriter, r *http.Request) (connectionPart, bool) {
	id, ok := p.segmentOf(w, r, "id", "connections")
	if !ok {
		return connectionPart{}, false
	}
	d, err := p.Owner.Connection(r.Context(), id)
	if err != nil {
		p.fail(w, r, "connections", err)
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
	return address("/connections/"+segment(c.ID)+below, q)
}

// item is what something missing is called: its stream, and its key if it has one.
func (c *connectionPart) item(g *api.Gap) string {
	if g.RecordKey == "" {
		return c.label(g.Stream)
	}
	return c.label(g.Stream) + " " + text.Cut(text.Line(g.RecordKey), longestTitle)
}
