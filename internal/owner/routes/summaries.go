package routes

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/view"
)

const (
	defaultSummaries = 25
	mostSummaries    = 100
)

// summaryQuery selects connections.
type summaryQuery struct {
	Connection  string `query:"connection"`          // only this connection
	ConnectorID string `query:"connector_id"`        // only of this connector
	Cursor      string `query:"cursor"`              // next_cursor of the page before
	Limit       int    `query:"limit" maximum:"100"` // how many a page holds at most; 25 by default
}

// connectionPage is a page of connections, with what holds for all of them.
type connectionPage struct {
	Object     string                 `json:"object" enum:"list"`
	Data       []view.Connection      `json:"data"`
	Next       string                 `json:"next_cursor,omitempty"`
	Summary    view.Summary           `json:"summary"`
	Indicator  *view.RuntimeIndicator `json:"runtime_indicator"`
	ObservedAt time.Time              `json:"observed_at"`
}

// summaries lists connections page by page, in the order of their ids, which does not change between
// two pages as the order for people does.
func (s *surface) summaries(r *http.Request) (connectionPage, error) {
	var q summaryQuery
	if err := api.ReadQuery(r, &q); err != nil {
		return connectionPage{}, err
	}
	if q.Limit > mostSummaries {
		return connectionPage{}, api.Invalid("limit", "A page holds at most 100 connections.", "Ask for at most 100.")
	}
	size := cmp.Or(q.Limit, defaultSummaries)
	after, err := openPlace(q.Cursor)
	if err != nil {
		return connectionPage{}, err
	}
	all, err := s.owner.Overview(r.Context())
	if err != nil {
		return connectionPage{}, err
	}
	fits := selected(all.Connections, q.Connection, q.ConnectorID, after)
	next := ""
	if len(fits) > size {
		fits = fits[:size]
		next = sealPlace(fits[size-1].ID)
	}
	return connectionPage{"list", fits, next, all.Summary, all.Indicator, all.ObservedAt}, nil
}

func selected(all []view.Connection, connection, connector, after string) []view.Connection {
	fits := []view.Connection{}
	for i := range all {
		c := &all[i]
		if (connection == "" || c.ID == connection) && (connector == "" || c.ConnectorID == connector) && c.ID > after {
			fits = append(fits, *c)
		}
	}
	slices.SortFunc(fits, func(a, b view.Connection) int { return strings.Compare(a.ID, b.ID) })
	return fits
}

// placeMark starts a decoded cursor. The cursor holds an id of the list, which is not secret. It is encoded so that
// clients do not depend on its content.
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
