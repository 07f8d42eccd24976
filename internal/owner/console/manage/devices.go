package manage

import (
	"net/http"

	"pdpp/internal/ops/text"

	"pdpp/internal/owner/api"
	"pdpp/internal/view"
)

// devicesPage is the computers that collect, and how what they feed is.
type devicesPage struct {
	Active, Revoked []api.Device
	Feeds           map[string]*view.Connection // by connection; not there when it is revoked
}

func (p *pages) devices(w http.ResponseWriter, r *http.Request) {
	all, err := p.Owner.Devices(r.Context())
	if err != nil {
		p.fail(w, r, "devices", err)
		return
	}
	overview, err := p.Owner.Overview(r.Context())
	if err != nil {
		p.fail(w, r, "devices", err)
		return
	}
	page := devicesPage{Feeds: map[string]*view.Connection{}}
	for i := range overview.Connections {
		c := &overview.Connections[i]
		page.Feeds[c.ID] = c
	}
	for _, d := range all {
		if d.Status == "revoked" {
			page.Revoked = append(page.Revoked, d)
		} else {
			page.Active = append(page.Active, d)
		}
	}
	f := p.frame(w, r, "Devices", "devices")
	p.show(w, r, http.StatusOK, f, devicesBody(&page, p.Now()))
}

// sourceNames lists what a device collected.
func sourceNames(d api.Device) string {
	var words []string
	for _, s := range d.Sources {
		words = append(words, s.DisplayName)
	}
	return text.List(words)
}
