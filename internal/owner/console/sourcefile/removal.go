package sourcefile

import (
	"net/http"
	"slices"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/internal/view"
)

// removeAddress is where the owner removes a source that was added from a file.
const removeAddress = ui.SourceFileAddress + "/remove"

// addedSources returns the sources that were added from a file, those that cannot be used among them.
func (p *sourceFilePages) addedSources(r *http.Request) ([]api.Connector, error) {
	all, err := p.Owner.Connectors(r.Context())
	return slices.DeleteFunc(all, func(c api.Connector) bool { return !c.SourceFile }), err
}

// removalPage is what the removal of a source does to its connections and their records.
type removalPage struct {
	api.Connector
	Connections []view.Connection
	Grown       bool // the owner agreed before a connection was added
}

// askRemoval shows what a removal would do.
func (p *sourceFilePages) askRemoval(w http.ResponseWriter, r *http.Request) {
	if page := p.removal(w, r, r.URL.Query().Get("name")); page != nil {
		p.ShowPage(w, r, http.StatusOK, p.PageFrame(w, r, page.title(), "sources"), removalBody(page))
	}
}

// removal returns what the removal of a source would do. If it cannot, it writes an error page and returns nil.
func (p *sourceFilePages) removal(w http.ResponseWriter, r *http.Request, name string) *removalPage {
	added, err := p.addedSources(r)
	if err != nil {
		p.ShowFailure(w, r, "sources", err)
		return nil
	}
	i := slices.IndexFunc(added, func(c api.Connector) bool { return c.ID == name })
	if i < 0 {
		p.ShowFailure(w, r, "sources", api.NotFound("There is no source of that name that was added from a file.",
			"Follow a link from the list."))
		return nil
	}
	overview, err := p.Owner.Overview(r.Context())
	if err != nil {
		p.ShowFailure(w, r, "sources", err)
		return nil
	}
	page := &removalPage{Connector: added[i]}
	for i := range overview.Connections {
		if overview.Connections[i].ConnectorID == name {
			page.Connections = append(page.Connections, overview.Connections[i])
		}
	}
	return page
}

// remove ends the connections of a source that the owner saw, and removes its file. A connection that was added since
// then keeps the file from being removed.
func (p *sourceFilePages) remove(w http.ResponseWriter, r *http.Request) {
	if !p.ParseForm(w, r, "sources") {
		return
	}
	page := p.removal(w, r, r.PostForm.Get("name"))
	if page == nil {
		return
	}
	shown := r.PostForm["connection"]
	unseen := func(c view.Connection) bool { return !slices.Contains(shown, c.ID) }
	if page.Grown = slices.ContainsFunc(page.Connections, unseen); page.Grown {
		p.ShowPage(w, r, http.StatusConflict, p.PageFrame(w, r, page.title(), "sources"), removalBody(page))
		return
	}
	for i := range page.Connections {
		if err := p.Owner.Revoke(r.Context(), page.Connections[i].ID); err != nil {
			p.ShowFailure(w, r, "sources", err)
			return
		}
	}
	if err := p.Owner.RemoveSourceFile(r.Context(), page.ID); err != nil {
		p.ShowFailure(w, r, "sources", err)
		return
	}
	ui.Done(w, r, ui.SourceFileAddress, ui.Good("Removed. What was collected stays."))
}

func (page *removalPage) title() string { return "Remove " + page.DisplayName }

// lede returns what ends and what stays.
func (page *removalPage) lede() string {
	if len(page.Connections) == 0 {
		return "It has no connection. The file is deleted from this server, and nothing else changes."
	}
	return text.Count(int64(len(page.Connections)), "connection ends", "connections end") +
		", and the file is deleted from this server. Nothing that was collected is deleted."
}

// keptWords returns how much of a connection stays.
func keptWords(c *view.Connection) string {
	if c.TotalRecords == nil {
		return "its records stay"
	}
	if *c.TotalRecords == 0 {
		return "it has no records"
	}
	return text.Count(*c.TotalRecords, "record stays", "records stay")
}
