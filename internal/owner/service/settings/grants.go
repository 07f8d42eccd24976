package settings

import (
	"context"
	"net/url"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// The default of the contract is the one that grants apply.
var _ [grants.UsualDays]struct{} = [api.UsualGrantDays]struct{}{}

// Grants lists every grant, the newest first.
func (a *Settings) Grants(ctx context.Context) ([]api.Grant, error) {
	all, err := a.GrantService.List(ctx)
	if err != nil {
		return nil, faults.OwnerError(err, "list the grants")
	}
	out := make([]api.Grant, len(all))
	for i, g := range all {
		out[i] = showGrant(g)
		out[i].Usage = []api.GrantUsage{}
	}
	return out, nil
}

// Grant returns one grant with its usage.
func (a *Settings) Grant(ctx context.Context, id string) (api.Grant, error) {
	g, err := a.GrantService.One(ctx, id)
	if err != nil {
		return api.Grant{}, faults.OwnerError(err, "read the grant")
	}
	return showGrant(g), nil
}

// CreateGrant creates a grant and returns its token. The token cannot be read again.
func (a *Settings) CreateGrant(ctx context.Context, n api.NewGrant) (api.Grant, string, error) {
	wanted := grants.New{ClientName: n.ClientName, Purpose: n.Purpose, Mode: store.GrantMode(n.Mode),
		End: grantEndTime(n.GrantEnd)}
	for _, part := range n.Streams {
		wanted.Scope = append(wanted.Scope, grants.Stream(part))
	}
	for _, p := range n.Profiles {
		wanted.Profiles = append(wanted.Profiles, grants.ProfileOf(p))
	}
	g, token, err := a.GrantService.Create(ctx, wanted)
	if err != nil {
		return api.Grant{}, "", faults.OwnerError(err, "make the grant")
	}
	return showGrant(g), token, a.fetchGranted(ctx, g.ID, g.Scope)
}

// RevokeGrant ends a grant at once.
func (a *Settings) RevokeGrant(ctx context.Context, id string) error {
	return faults.OwnerError(a.GrantService.Revoke(ctx, id), "revoke the grant")
}

func showGrant(g grants.Grant) api.Grant {
	out := api.Grant{
		ID: g.ID, ClientID: g.ClientID, ClientName: g.ClientName, Purpose: g.Purpose, Mode: string(g.Mode),
		Streams: grantedStreams(g.Scope),
		Status:  string(g.Status), CreatedAt: g.CreatedAt, ExpiresAt: g.ExpiresAt, RevokedAt: g.RevokedAt,
		LastUsedAt: g.LastUsedAt,
		Uses:       g.Uses, Records: g.Records, Usage: []api.GrantUsage{},
	}
	for _, u := range g.Usage {
		out.Usage = append(out.Usage, api.GrantUsage(u))
	}
	return out
}

func grantedStreams(scope grants.GrantedStreams) []api.GrantStream {
	out := []api.GrantStream{}
	for _, part := range scope {
		out = append(out, api.GrantStream(part))
	}
	return out
}

// GrantRequest returns what an app requests.
func (a *Settings) GrantRequest(ctx context.Context, id string) (api.GrantRequest, error) {
	r, err := a.GrantService.RequestByID(ctx, id)
	if err != nil {
		return api.GrantRequest{}, faults.OwnerError(err, "read the request")
	}
	out := api.GrantRequest{
		ID: r.ID, ClientID: r.ClientID, ClientName: r.ClientName, Purpose: r.Purpose, Mode: string(r.Mode),
		Streams: grantedStreams(r.Scope), OwnerChooses: r.OwnerChooses,
		Missing: append([]string{}, r.Missing...), ExpiresAt: r.ExpiresAt,
	}
	if u, err := url.Parse(r.RedirectURI); err == nil {
		out.ReturnsTo = u.Host
	}
	return out, nil
}

// Decide answers an app's request and returns the address to redirect the browser to.
func (a *Settings) Decide(ctx context.Context, id string, d api.Decision) (string, error) {
	asked, err := a.GrantService.RequestByID(ctx, id)
	if err != nil {
		return "", faults.OwnerError(err, "read the request")
	}
	var chosen grants.GrantedStreams
	for _, s := range d.Streams {
		chosen = append(chosen, grants.Stream(s))
	}
	if asked.OwnerChooses {
		asked.Scope = chosen
	} else if asked.Scope, err = grants.Narrow(asked.Scope, chosen); err != nil {
		return "", faults.OwnerError(err, "read what was chosen")
	}
	redirect, grantID, err := a.GrantService.Decide(ctx, id,
		grants.Decision{Approve: d.Approve, Streams: chosen, End: grantEndTime(d.GrantEnd)})
	if err != nil || !d.Approve {
		return redirect, faults.OwnerError(err, "decide on the request")
	}
	return redirect, a.fetchGranted(ctx, grantID, asked.Scope)
}

func grantEndTime(e api.GrantEnd) grants.End {
	return grants.End{At: e.ExpiresAt, Never: e.NeverExpires}
}
