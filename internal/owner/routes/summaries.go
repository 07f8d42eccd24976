package routes

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/view"
)

const (
	defaultSummaries = 25
	mostSummaries    = 100
)

// summaries gives connections page by page, in the order of their ids, which does not
// change between two pages as the order for people does.
func (s *surface) summaries(r *http.Request) (any, error) {
	q, err := queryOf(r, "connection", "connector_id", "cursor", "limit")
	if err != nil {
		return nil, err
	}
	size, err := limit(q)
	if err != nil {
		return nil, err
	}
	if size > mostSummaries {
		return nil, api.Invalid("limit", "A page holds at most 100 connections.", "Ask for at most 100.")
	}
	if size == 0 {
		size = defaultSummaries
	}
	after, err := openPlace(q.Get("cursor"))
	if err != nil {
		return nil, err
	}
	all, err := s.owner.Overview(r.Context())
	if err != nil {
		return nil, err
	}
	fits := selected(all.Connections, q.Get("connection"), q.Get("connector_id"), after)
	next := ""
	if len(fits) > size {
		fits = fits[:size]
		next = sealPlace(fits[size-1].ID)
	}
	return overviewOf(all, page(fits, next)), nil
}

func selected(all []view.Connection, connection, connector, after string) []view.Connection {
	var fits []view.Connection
	for i := range all {
		c := &all[i]
		if (connection == "" || c.ID == connection) && (connector == "" || c.ConnectorID == connector) && c.ID > after {
			fits = append(fits, *c)
		}
	}
	slices.SortFunc(fits, func(a, b view.Connection) int { return strings.Compare(a.ID, b.ID) })
	return fits
}

// A place in the order of ids is no secret and says nothing that the list does not;
// it is packed so that nobody builds on what is in it.
const placeMark = "after:"

func sealPlace(id string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(placeMark + id))
}

func openPlace(cursor string) (string, error) {
	if cursor == "" {
		return "", nil
	}
	plain, err := base64.RawURLEncoding.DecodeString(cursor)
	id, is := strings.CutPrefix(string(plain), placeMark)
	if err != nil || !is {
		return "", &api.Error{Status: http.StatusBadRequest, Code: api.CodeInvalidCursor, Param: "cursor",
			Message: "That cursor is not one of this list.", Next: "Begin again without a cursor."}
	}
	return id, nil
}
