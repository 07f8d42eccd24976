package readapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/share/readapi/grantview"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func (a *api) streams(r *http.Request, who grants.Access) (any, error) {
	q, err := parseQuery(r, "connection_id")
	if err != nil {
		return nil, err
	}
	views, err := a.Grants.Views(r.Context(), who, "", q.connection)
	if err != nil {
		return nil, err
	}
	measured, err := a.measureCompleteness(r, who, q, views, false)
	if err != nil {
		return nil, err
	}
	sums := &sums{api: a, r: r, streams: map[string][]store.StreamInfo{}}
	out := make([]grantview.Stream, len(views))
	for i, v := range views {
		out[i] = grantview.Stream{ConnectionID: v.ConnectionID(), Name: v.Name()}
		if who.SingleUse() {
			continue // what happens after the one reading is not part of the grant
		}
		out[i].Freshness = a.freshness(v, measured[i].CapturedAt)
		if !v.Whole() {
			continue // a total over all records would reveal hidden ones
		}
		info, err := sums.of(v)
		if err != nil {
			return nil, err
		}
		if info != nil {
			out[i].Records, out[i].LastUpdated = &info.Records, info.ChangedAt
		}
	}
	return grantview.NewStreamList(out, a.completeness(views, measured)), nil
}

func (a *api) stream(r *http.Request, who grants.Access) (any, error) {
	q, err := parseQuery(r, "connection_id")
	if err != nil {
		return nil, err
	}
	views, err := a.Grants.Views(r.Context(), who, r.PathValue("stream"), q.connection)
	if err != nil {
		return nil, err
	}
	all, err := a.Grants.Views(r.Context(), who, "", views[0].ConnectionID())
	if err != nil {
		return nil, err
	}
	return schemaOf(views[0], all), nil
}

func (a *api) schemas(r *http.Request, who grants.Access) (any, error) {
	q, err := parseQuery(r, "connection_id")
	if err != nil {
		return nil, err
	}
	views, err := a.Grants.Views(r.Context(), who, "", q.connection)
	if err != nil {
		return nil, err
	}
	schemas := make([]grantview.StreamSchema, len(views))
	for i, v := range views {
		schemas[i] = schemaOf(v, views)
	}
	return grantview.NewSchemaList(schemas), nil
}

// schemaOf returns the schema of a view's records, for a reader of all the views.
func schemaOf(v grants.StreamView, all []grants.StreamView) grantview.StreamSchema {
	declared := v.Declared()
	s := grantview.SchemaOf(v.ConnectionID(), &declared).Queried(v.Query())
	s.Expandable, s.Searchable = expandable(v, all), v.Searchable()
	return s
}

// connectors names the kinds of source, each once.
func (a *api) connectors(r *http.Request, who grants.Access) (any, error) {
	if _, err := parseQuery(r); err != nil {
		return nil, err
	}
	views, err := a.Grants.Views(r.Context(), who, "", "")
	if err != nil {
		return nil, err
	}
	var all []grantview.Connector
	for _, v := range views {
		all = append(all, grantview.Connector{ID: v.ConnectorID, Name: v.ConnectorName})
	}
	slices.SortFunc(all, func(a, b grantview.Connector) int { return strings.Compare(a.ID, b.ID) })
	return grantview.NewConnectorList(slices.Compact(all)), nil
}

// sums remembers what was read of a connection while one answer is made.
type sums struct {
	api     *api
	r       *http.Request
	streams map[string][]store.StreamInfo
}

func (s *sums) of(v grants.StreamView) (*store.StreamInfo, error) {
	id := v.ConnectionID()
	if _, ok := s.streams[id]; !ok {
		infos, err := s.api.Store.Streams(s.r.Context(), id)
		if err != nil {
			return nil, fmt.Errorf("list streams: %w", err)
		}
		s.streams[id] = infos
	}
	for i := range s.streams[id] {
		if s.streams[id][i].Name == v.Name() {
			return &s.streams[id][i], nil
		}
	}
	return nil, nil
}
