package readapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"pdpp/internal/keep/store"
	"pdpp/internal/share/grants"
	"pdpp/internal/share/readapi/grantview"
)

func (a *api) streams(r *http.Request, who grants.Access) (any, error) {
	q, err := parse(r, "connection_id")
	if err != nil {
		return nil, err
	}
	views, err := a.Grants.Views(r.Context(), who, "", q.connection)
	if err != nil {
		return nil, err
	}
	sums := &sums{api: a, r: r, streams: map[string][]store.StreamInfo{}, captured: map[string]*time.Time{}}
	out := make([]grantview.Stream, len(views))
	for i, v := range views {
		out[i] = grantview.Stream{ConnectionID: v.ConnectionID(), Name: v.Name()}
		if who.SingleUse() {
			continue // what happens after the one reading is not part of the grant
		}
		if out[i].Freshness, err = sums.freshness(v); err != nil {
			return nil, err
		}
		if !v.Whole() {
			continue // a sum over all would tell of what lies outside
		}
		info, err := sums.of(v)
		if err != nil {
			return nil, err
		}
		if info != nil {
			out[i].Records, out[i].LastUpdated = &info.Records, info.ChangedAt
		}
	}
	return grantview.NewStreamList(out), nil
}

func (a *api) stream(r *http.Request, who grants.Access) (any, error) {
	q, err := parse(r, "connection_id")
	if err != nil {
		return nil, err
	}
	views, err := a.Grants.Views(r.Context(), who, r.PathValue("stream"), q.connection)
	if err != nil {
		return nil, err
	}
	return schemaOf(views[0]), nil
}

func (a *api) schemas(r *http.Request, who grants.Access) (any, error) {
	q, err := parse(r, "connection_id")
	if err != nil {
		return nil, err
	}
	views, err := a.Grants.Views(r.Context(), who, "", q.connection)
	if err != nil {
		return nil, err
	}
	schemas := make([]grantview.StreamSchema, len(views))
	for i, v := range views {
		schemas[i] = schemaOf(v)
	}
	return grantview.NewSchemaList(schemas), nil
}

func schemaOf(v grants.View) grantview.StreamSchema {
	declared := v.Declared()
	return grantview.SchemaOf(v.ConnectionID(), &declared).Queried(v.Query())
}

// connectors names the kinds of source, each once.
func (a *api) connectors(r *http.Request, who grants.Access) (any, error) {
	if _, err := parse(r); err != nil {
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

func asObject(r grantview.Record) grantview.Record {
	r.Object = grantview.ObjectRecord
	return r
}

// sums remembers what was read of a connection while one answer is made.
type sums struct {
	api      *api
	r        *http.Request
	streams  map[string][]store.StreamInfo
	captured map[string]*time.Time
}

func (s *sums) of(v grants.View) (*store.StreamInfo, error) {
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

// freshness is how old the data is: by the newest run that brought all it could, held
// against the age that the source declares as the most. Why it is so old is not said.
func (s *sums) freshness(v grants.View) (grantview.Freshness, error) {
	id := v.ConnectionID()
	if _, ok := s.captured[id]; !ok {
		runs, err := s.api.Store.ListRuns(s.r.Context(), store.RunQuery{ConnectionID: id, Status: store.RunSucceeded, Limit: 1})
		if err != nil {
			return grantview.Freshness{}, fmt.Errorf("list runs: %w", err)
		}
		s.captured[id] = nil
		if len(runs) > 0 {
			s.captured[id] = runs[0].CompletedAt
		}
	}
	f := grantview.Freshness{Status: grantview.FreshnessUnknown, CapturedAt: s.captured[id]}
	policy := v.Refresh()
	if f.CapturedAt == nil || policy == nil || policy.MaximumStalenessSeconds <= 0 {
		return f, nil
	}
	f.Status = grantview.FreshnessCurrent
	if s.api.Now().Sub(*f.CapturedAt) > time.Duration(policy.MaximumStalenessSeconds)*time.Second {
		f.Status = grantview.FreshnessStale
	}
	return f, nil
}
