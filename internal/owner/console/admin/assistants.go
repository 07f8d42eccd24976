package admin

import (
	"net/http"

	"github.com/pdpp-go/pdpp/internal/owner/assistant"
)

// assistants shows what to copy into assistants, so that they ask this server.
func (p *adminPages) assistants(w http.ResponseWriter, r *http.Request) {
	here := assistant.Installation{Program: "pdpp", Server: p.Base, Public: p.Base}
	all := make([]assistant.ClientSettings, len(assistant.Clients))
	for i, c := range assistant.Clients {
		all[i] = c.Settings(here)
	}
	p.ShowPage(w, r, http.StatusOK, p.PageFrame(w, r, "Assistants", "sharing"), assistantsBody(all))
}
