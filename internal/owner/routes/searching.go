package routes

import (
	"net/http"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

type searchName struct {
	Name string `json:"name"`
}

// searching are the searches that were given a name.
func (s *surface) searching() []reply.Route {
	return []reply.Route{
		s.get("GET /_ref/searches", func(r *http.Request) (any, error) {
			return listOf(s.owner.SavedSearches(r.Context()))
		}),
		take(s, "POST /_ref/searches", http.StatusCreated, func(r *http.Request, n api.NewSearch) (any, error) {
			return s.owner.SaveSearch(r.Context(), n)
		}),
		put(s, "PATCH /_ref/searches/{id}", func(r *http.Request, n searchName) error {
			return s.owner.RenameSearch(r.Context(), id(r), n.Name)
		}),
		s.act("DELETE /_ref/searches/{id}", func(r *http.Request) error {
			return s.owner.DeleteSearch(r.Context(), id(r))
		}),
	}
}
