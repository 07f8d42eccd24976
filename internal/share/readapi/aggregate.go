package readapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/share/readapi/grantview"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// aggregate aggregates the records of a stream, separately for each connection.
func (a *api) aggregate(r *http.Request, who grants.Access) (any, error) {
	q, err := parseQuery(r, "connection_id", "filter", "metric", "field", "group_by", "granularity", "groups")
	if err != nil {
		return nil, err
	}
	q.sum.Metric = cmp.Or(q.sum.Metric, store.MetricCount)
	if err := onceOnly(who); err != nil {
		return nil, err
	}
	views, err := a.Grants.Views(r.Context(), who, r.PathValue("stream"), q.connection)
	if err != nil {
		return nil, err
	}
	if err := q.check(views); err != nil {
		return nil, err
	}
	out := grantview.AggregationList{Object: grantview.ObjectList, Data: make([]grantview.Aggregation, len(views))}
	if out.Completeness, err = a.complete(r, who, q, views, false); err != nil {
		return nil, err
	}
	for i, v := range views {
		if out.Data[i], err = a.summed(r, q, v); err != nil {
			return nil, err
		}
	}
	for _, v := range views {
		if err := a.Grants.Used(r.Context(), who, v, 0, nil); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (a *api) summed(r *http.Request, q query, v grants.StreamView) (out grantview.Aggregation, err error) {
	sum, why := v.Aggregation(q.sum)
	if err := checkDeclared(v, why, sum.Field, sum.GroupBy); err != nil {
		return out, err
	}
	sum.Where = q.where
	if sum.Compare, err = q.comparisons(v); err != nil {
		return out, err
	}
	found, err := a.Store.Aggregate(r.Context(), sum)
	if errors.Is(err, store.ErrTooLong) {
		return out, grants.Refused(grants.CodeReadTimeout, "", fmt.Sprintf("Summing up was ended after %s without an answer.",
			store.MaxAggregationTime),
			"Narrow it with a filter that leaves fewer records.")
	}
	if err != nil {
		return out, fmt.Errorf("sum up records: %w", err)
	}
	out = grantview.Aggregation{
		Object: grantview.ObjectAggregate, ConnectionID: v.ConnectionID(), Stream: v.Name(),
		Groups: make([]grantview.Group, len(found.Groups)), Truncated: found.Truncated,
	}
	for i, g := range found.Groups {
		out.Groups[i] = grantview.Group{Key: g.Key, Value: json.RawMessage(g.Value)}
	}
	return out, nil
}
