package settings

import (
	"errors"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/ownertest"
	"github.com/pdpp-go/pdpp/internal/share/grants"
)

func TestGrants(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.Connect()
	d.Collect(id, ownertest.TwoStreamManifest())
	made, token, err := d.CreateGrant(d.Ctx(), api.NewGrant{ClientName: "Florist", Purpose: "Advice", Mode: "continuous",
		Streams: []api.GrantStream{{ConnectionID: id, Stream: "beds", Fields: []string{"name"}}}})
	d.Must(err)
	if token == "" || made.Status != "active" || len(made.Streams) != 1 || made.Usage == nil {
		t.Errorf("grant %+v", made)
	}
	d.Must(d.RevokeGrant(d.Ctx(), made.ID))
	if got, err := d.Grant(d.Ctx(), made.ID); err != nil || got.Status != "revoked" {
		t.Errorf("grant %+v, %v", got, err)
	}
	if all, err := d.Grants(d.Ctx()); err != nil || len(all) != 1 {
		t.Errorf("grants %+v, %v", all, err)
	}
	_, _, err = d.CreateGrant(d.Ctx(), api.NewGrant{ClientName: "Florist"})
	var e *api.Error
	if !errors.As(err, &e) || e.Param != "streams" {
		t.Errorf("a grant of nothing: %#v", err)
	}
	ownertest.WantError(t, d.RevokeGrant(d.Ctx(), "gr_none"), api.CodeNotFound, "")
	_, err = d.GrantRequest(d.Ctx(), "gq_none")
	ownertest.WantError(t, err, api.CodeNotFound, "")
	_, err = d.Decide(d.Ctx(), "gq_none", api.Decision{Approve: true})
	ownertest.WantError(t, err, api.CodeNotFound, "")
}

// An app sends a request, the owner reads it and approves, and the decision is returned to the app.
func TestDecide(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.Connect()
	d.Collect(id, ownertest.TwoStreamManifest())
	app, err := d.GrantService.Register(d.Ctx(), "Florist", []string{"https://florist.lantern.example/back"}, false)
	d.Must(err)
	ask := func() string {
		request, err := d.GrantService.Request(d.Ctx(),
			grants.Ask{ClientID: app.ID, RedirectURI: "https://florist.lantern.example/back", State: "s1",
				CodeChallenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", Purpose: "Advice",
				Wants: []grants.Want{{Stream: grants.Stream{Stream: "beds"}}, {Stream: grants.Stream{Stream: "paths"}}}})
		d.Must(err)
		return request
	}
	yes, no := ask(), ask()
	r, err := d.GrantRequest(d.Ctx(), yes)
	d.Must(err)
	if r.ClientName != "Florist" || r.ReturnsTo != "florist.lantern.example" || len(r.Streams) != 1 ||
		len(r.Missing) != 1 || r.Missing[0] != "paths" {
		t.Errorf("request %+v", r)
	}
	for request, want := range map[string]string{yes: "code=", no: "error=access_denied"} {
		redirect, err := d.Decide(d.Ctx(), request, api.Decision{Approve: request == yes})
		d.Must(err)
		if !strings.HasPrefix(redirect, "https://florist.lantern.example/back?") || !strings.Contains(redirect, want) {
			t.Errorf("the browser goes to %s", redirect)
		}
	}
}
