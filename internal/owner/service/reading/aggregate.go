package reading

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// Aggregate sums up the records of one stream of one connection.
func (c *Collection) Aggregate(ctx context.Context, q api.AggregateQuery) (api.Aggregation, error) {
	declared, err := c.declaredStream(ctx, q.ConnectionID, q.Stream)
	if err != nil {
		return api.Aggregation{}, err
	}
	ask := store.AggregateQuery{
		AccessFilter: store.AccessFilter{ConnectionID: q.ConnectionID, Stream: q.Stream},
		Metric:       store.Metric(cmp.Or(q.Metric, string(store.MetricCount))), Field: q.Field,
		GroupBy: q.GroupBy, Granularity: store.Granularity(q.Granularity), Limit: q.Limit,
	}
	if why := ask.CheckDeclared(declared); why != nil {
		return api.Aggregation{}, filterError(why)
	}
	if ask.Where, err = streamFilters(declared, q.Where); err != nil {
		return api.Aggregation{}, err
	}
	if ask.Compare, err = comparisons(declared, q.Compare); err != nil {
		return api.Aggregation{}, err
	}
	found, err := c.store.Aggregate(ctx, ask)
	if errors.Is(err, store.ErrTooLong) {
		return api.Aggregation{}, &api.Error{Status: http.StatusServiceUnavailable, Code: grants.CodeReadTimeout, Err: err,
			Message: fmt.Sprintf("Summing up was ended after %s without an answer.", store.MaxAggregationTime),
			Next:    "Narrow it with a filter that leaves fewer records."}
	}
	if err != nil {
		return api.Aggregation{}, faults.OwnerError(err, "sum up the records")
	}
	out := api.Aggregation{Groups: make([]api.Group, len(found.Groups)), Truncated: found.Truncated}
	for i, g := range found.Groups {
		out.Groups[i] = api.Group{Key: g.Key, Value: json.RawMessage(g.Value)}
	}
	return out, nil
}

// comparisons are those that the manifest lets readers make, in the order of their names.
func comparisons(declared *manifest.Stream, asked api.Comparisons) (out []store.Comparison, err error) {
	for _, by := range slices.SortedFunc(maps.Keys(asked), func(a, b api.Comparison) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Operator, b.Operator))
	}) {
		made, why := store.NewComparison(declared, by.Field, manifest.RangeOperator(by.Operator), asked[by])
		if why != nil {
			why.Param = "filter[" + by.Field + "][" + by.Operator + "]"
			return nil, filterError(why)
		}
		out = append(out, made)
	}
	return out, nil
}

// filterError converts an invalid query to an owner-facing error.
func filterError(why *store.InvalidQuery) *api.Error {
	e := api.Invalid(why.Param, why.Message, why.Next)
	if why.Undeclared {
		e.Code = api.CodeUnknownField
	}
	return e
}
