package github

import (
	"context"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// A list whose absences are deletions is asked page by page with the ETag that the
// page had: pages that are as they were answer 304, which costs nothing of the primary
// limit, and say so for descriptions and flags too, which no order by time would show.

func repositories(a *api, p *profile) connectorkit.FullList {
	first := target("user/repos", "per_page", pageSize, "sort", "pushed", "direction", "desc")
	l := inventory{api: a, first: first, read: repository, public: func(raw jsontext.Value) bool {
		var r wireRepo
		return decode(raw, &r) == nil && !r.Private && r.Owner.login() == p.wire.Login
	}}
	l.counted = func(listed int64) { p.compare("repositories", "public_repos", p.wire.PublicRepos, listed) }
	return l.of("repositories")
}

func starred(a *api) connectorkit.FullList {
	first := target("user/starred", "per_page", pageSize, "sort", "created", "direction", "desc")
	l := inventory{api: a, first: first, read: star, header: http.Header{"Accept": {acceptStars}}}
	return l.of("starred")
}

func gists(a *api, p *profile) connectorkit.FullList {
	l := inventory{api: a, first: target("gists", "per_page", pageSize), read: gist,
		public: func(raw jsontext.Value) bool {
			var g struct {
				Public bool `json:"public"`
			}
			return decode(raw, &g) == nil && g.Public
		}}
	l.counted = func(listed int64) { p.compare("gists", "public_gists", p.wire.PublicGists, listed) }
	return l.of("gists")
}

// inventory is how one such list is asked for and read.
type inventory struct {
	api    *api
	first  string // target of the first page
	header http.Header
	read   func(jsontext.Value) (key string, rec connectorkit.Record)
	// public reports whether a row is one of those that the profile counts, and counted receives their number after a
	// walk without a page that was as it had been. Both may be nil.
	public  func(jsontext.Value) bool
	counted func(listed int64)

	listed int64 // public rows of this walk
	known  bool  // a page of it was as it had been
}

func (l *inventory) of(stream string) connectorkit.FullList {
	return connectorkit.FullList{Stream: stream, Page: l.page}
}

// page reads one page. The token's scopes are what it may see; fine-grained tokens do
// not tell theirs. Organizations behind single sign-on are held back.
func (l *inventory) page(ctx context.Context, v connectorkit.PageRequest) (connectorkit.InventoryPage, error) {
	resp, err := l.api.get(ctx, or(v.Token, l.first), v.Version, l.header)
	if err != nil {
		return connectorkit.InventoryPage{}, err
	}
	page := connectorkit.InventoryPage{
		Unchanged: resp.unchanged, Next: resp.next, Version: resp.Header.Get("ETag"),
		Hidden: resp.absent(), View: resp.Header.Get("X-OAuth-Scopes"),
	}
	if v.Token == "" {
		l.listed, l.known = 0, false
	}
	if resp.unchanged {
		l.known = true
		return page, nil
	}
	rows, err := resp.rows()
	if err != nil {
		return connectorkit.InventoryPage{}, err
	}
	for _, raw := range rows {
		key, rec := l.read(raw)
		page.Things = append(page.Things, connectorkit.ListItem{Key: key, Record: rec})
		if l.public != nil && l.public(raw) {
			l.listed++
		}
	}
	if l.counted != nil && !l.known && page.Next == "" {
		l.counted(l.listed)
	}
	return page, nil
}
