package console

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/figures"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// movedPage is an address of the second edition and where its page is now. In to, names in braces are
// parts of the address.
type movedPage struct{ from, to string }

// movedPages are the addresses that moved as they are. The query stays.
var movedPages = []movedPage{
	{"/connections/{id}", "/sources/{id}"},
	{"/connections/{id}/gaps", "/sources/{id}/missing"},
	{"/connections/{id}/gaps/{gap}", "/sources/{id}/missing/{gap}"},
	{"/connections/{id}/changes", "/changed?source={id}"},
	{"/connections/{id}/bookmarks", "/sources/{id}/bookmarks"},
	{"/connections/{id}/bookmarks/rewind", "/sources/{id}/bookmarks/rewind"},
	{"/connections/{id}/files", "/sources/{id}/files"},
	{"/connections/{id}/files/{import}", "/sources/{id}/files/{import}"},
	{"/connections/{id}/page", "/sources/{id}/page"},
	{"/connections/{id}/allow", "/sources/{id}/allow"},
	{"/schedules", "/settings/pace"},
	{"/devices", "/settings/devices"},
	{"/devices/{id}", "/settings/devices/{id}"},
	{"/devices/codes/{id}", "/settings/devices/codes/{id}"},
	{"/add", "/sources/add"},
	{"/add/{connector}", "/sources/add/{connector}"},
	{"/add/{connector}/about", "/sources/add/{connector}/about"},
	{"/add/{connector}/device", "/sources/add/{connector}/device"},
	{"/records/conversations", "/conversations"},
	{"/records/conversations/{connection}/{stream}/{thread}", "/conversations/{connection}/{stream}/{thread}"},
	{"/records/mail", "/mail"},
	{"/records/files", "/photos"},
	{"/records/places", "/places"},
	{"/records/documents", "/notes"},
	{"/records/code", "/code"},
	{"/records/streams", "/settings/details/streams"},
	{"/records/searches", ui.SearchesAddress},
	{"/records/reading/{connection}/{stream}/{key}", "/reading/{connection}/{stream}/{key}"},
	{"/records/{connection}/{stream}/{key}", "/thing/{connection}/{stream}/{key}"},
	{"/records/{connection}/{stream}/{key}/files/{sha256}", "/thing/{connection}/{stream}/{key}/files/{sha256}"},
	{"/grants", "/sharing"},
	{"/grants/new", "/sharing/new"},
	{"/grants/{id}", "/sharing/{id}"},
	{"/audit", "/sharing/reads"},
	{"/consent/{id}", "/sharing/allow/{id}"},
}

// movedRoutes redirects the addresses of the second edition for good.
func movedRoutes(owner api.Records) []ui.Route {
	var all []ui.Route
	move := func(from string, to func(r *http.Request) (string, error)) {
		all = append(all, ui.Route{Pattern: "GET " + from, Handler: http.HandlerFunc(
			func(w http.ResponseWriter, r *http.Request) {
				address, err := to(r)
				if err != nil {
					ui.ShowFailure(w, r, ui.Frame{}, err)
					return
				}
				http.Redirect(w, r, address, http.StatusMovedPermanently)
			})})
	}
	for _, page := range movedPages {
		move(page.from, page.address)
	}
	move("/records", func(r *http.Request) (string, error) {
		if r.URL.RawQuery == "" {
			return "/", nil
		}
		return api.SearchPage + "?" + r.URL.RawQuery, nil
	})
	move("/records/timeline", func(r *http.Request) (string, error) {
		q := r.URL.Query()
		day := q.Get("day")
		if q.Del("day"); day == "" {
			return ui.QueryAddress("/timeline", q), nil
		}
		return ui.QueryAddress("/day/"+url.PathEscape(day), q), nil
	})
	move("/records/figures", func(r *http.Request) (string, error) {
		return figures.Address(r, owner)
	})
	return all
}

// address returns where a request for the page belongs now.
func (page movedPage) address(r *http.Request) (string, error) {
	path, fixed, _ := strings.Cut(page.to, "?")
	var out []string
	for _, part := range strings.Split(path, "/") {
		if name, is := strings.CutPrefix(part, "{"); is {
			part = url.PathEscape(r.PathValue(strings.TrimSuffix(name, "}")))
		}
		out = append(out, part)
	}
	q := r.URL.Query()
	if name, value, is := strings.Cut(fixed, "="); is {
		q.Set(name, r.PathValue(strings.Trim(value, "{}")))
	}
	return ui.QueryAddress(strings.Join(out, "/"), q), nil
}
