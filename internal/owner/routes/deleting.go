package routes

import (
	"net/http"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

func (s *surface) deleting() []reply.Route {
	return []reply.Route{
		s.get("GET /_ref/ended-connections", func(r *http.Request) (any, error) {
			return listOf(s.owner.EndedConnections(r.Context()))
		}),
		s.get("GET /_ref/deletions", func(r *http.Request) (any, error) {
			return listOf(s.owner.Deletions(r.Context()))
		}),
		take(s, "POST /_ref/deletions/preview", http.StatusOK,
			func(r *http.Request, wanted api.DeletionRequest) (any, error) {
				return s.owner.PreviewDeletion(r.Context(), wanted)
			}),
		take(s, "POST /_ref/deletions", http.StatusCreated, func(r *http.Request, wanted api.DeletionRequest) (any, error) {
			return s.owner.Delete(r.Context(), wanted)
		}),
		s.get("GET /_ref/deletions/{id}", func(r *http.Request) (any, error) {
			return s.owner.DeletionByID(r.Context(), id(r))
		}),
		s.get("POST /_ref/deletions/{id}/undo", func(r *http.Request) (any, error) {
			return s.owner.UndoDeletion(r.Context(), id(r))
		}),
		s.get("POST /_ref/deletions/{id}/purge", func(r *http.Request) (any, error) {
			return s.owner.PurgeDeletion(r.Context(), id(r))
		}),
		s.get("POST /_ref/deletions/{id}/collect", func(r *http.Request) (any, error) {
			return s.owner.CollectDeleted(r.Context(), id(r))
		}),
	}
}
