package routes

import (
	"net/http"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

func (s *surface) bookmarks() []reply.Route {
	return []reply.Route{
		s.get("GET /_ref/connections/{id}/bookmarks", func(r *http.Request) (any, error) {
			return listOf(s.owner.Bookmarks(r.Context(), id(r)))
		}),
		s.get("GET /_ref/bookmarks/log", s.bookmarkLog),
		s.get("GET /_ref/bookmarks/rewind", s.previewRewind),
		take(s, "POST /_ref/bookmarks/rewind", http.StatusOK, func(r *http.Request, wish api.Rewind) (any, error) {
			return s.owner.Rewind(r.Context(), wish)
		}),
	}
}

func (s *surface) bookmarkLog(r *http.Request) (any, error) {
	q, err := queryOf(r, "connection_id", "stream", "mode", "limit")
	if err != nil {
		return nil, err
	}
	size, err := limit(q)
	if err != nil {
		return nil, err
	}
	return listOf(s.owner.BookmarkLog(r.Context(), api.BookmarkQuery{
		ConnectionID: q.Get("connection_id"), Stream: q.Get("stream"), Mode: q.Get("mode"), Limit: size,
	}))
}

func (s *surface) previewRewind(r *http.Request) (any, error) {
	q, err := queryOf(r, "connection_id", "stream", "mode", "commit")
	if err != nil {
		return nil, err
	}
	to, err := number(q, "commit")
	if err != nil {
		return nil, err
	}
	return s.owner.PreviewRewind(r.Context(), api.Rewind{ConnectionID: q.Get("connection_id"), Stream: q.Get("stream"), Mode: q.Get("mode"), Commit: to})
}
