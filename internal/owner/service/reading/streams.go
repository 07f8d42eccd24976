package reading

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/declaration"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// Streams lists the streams that have been collected, with what their connectors
// declare of them.
func (c *Collection) Streams(ctx context.Context, connectionID string) ([]api.Stream, error) {
	of := map[string]store.Connection{}
	if connectionID != "" {
		conn, err := c.find.Connection(ctx, connectionID)
		if err != nil {
			return nil, err
		}
		of[conn.ID] = conn
	} else {
		all, err := c.store.ListConnections(ctx)
		if err != nil {
			return nil, faults.OwnerError(err, "list the connections")
		}
		for _, conn := range all {
			of[conn.ID] = conn
		}
	}
	found, err := c.store.Streams(ctx, connectionID)
	if err != nil {
		return nil, faults.OwnerError(err, "list the streams")
	}
	declared := c.find.ManifestLibrary()
	out := make([]api.Stream, len(found))
	for i, info := range found {
		conn := of[info.ConnectionID]
		m, err := declared.ManifestOf(ctx, conn.ConnectorID)
		if err != nil {
			return nil, err
		}
		out[i] = showStream(info, conn, declaration.DescribeStream(m, info.Name))
		out[i].Display = streamDisplay(m, declaration.DescribeStream(m, info.Name))
		out[i].Dated = info.DaysOf != "" && info.DaysOf == out[i].Display.Roles["time"]
	}
	return out, nil
}

func showStream(info store.StreamInfo, conn store.Connection, declared *manifest.Stream) api.Stream {
	out := api.Stream{
		ConnectionID: info.ConnectionID, ConnectionName: conn.DisplayName, Name: info.Name,
		Label:   declaration.StreamLabel(declared, info.Name),
		Records: info.Records, Deleted: info.Deleted, LastSeq: info.LastSeq, PurgedSeq: info.PurgedSeq,
		UpdatedAt: info.ChangedAt, Search: []string{}, Filter: []string{}, Fields: []string{},
		FieldKinds:   map[string]string{},
		RangeFilters: []api.RangeFilter{},
	}
	out.Aggregations = aggregations(nil)
	if declared == nil {
		return out
	}
	out.Fields, out.FieldKinds = declaration.Fields(jsontext.Value(declared.Schema))
	if q := declared.Query; q != nil {
		out.Search, out.Filter = append(out.Search, declared.SearchFields()...), append(out.Filter, q.Filter...)
		kinds := declared.ValueKinds()
		for _, field := range slices.Sorted(maps.Keys(q.RangeFilters)) {
			f := api.RangeFilter{Field: field, Kind: string(cmp.Or(kinds[field], manifest.ValueText)), Operators: []string{}}
			for _, op := range q.RangeFilters[field] {
				f.Operators = append(f.Operators, string(op))
			}
			out.RangeFilters = append(out.RangeFilters, f)
		}
		out.Aggregations = aggregations(q.Aggregations)
	}
	return out
}

// aggregations are never null.
func aggregations(a *manifest.Aggregations) api.Aggregations {
	if a == nil {
		a = &manifest.Aggregations{}
	}
	list := func(fields []string) []string { return append([]string{}, fields...) }
	return api.Aggregations{Count: a.Count, CountDistinct: list(a.CountDistinct), GroupBy: list(a.GroupBy),
		GroupByTime: list(a.GroupByTime),
		Sum:         list(a.Sum), Min: list(a.Min), Max: list(a.Max)}
}

// declaredStream is what the connector of a connection declares of a stream, also of one
// that has no records yet. Declared is nil for a stream that it declares no more.
func (c *Collection) declaredStream(ctx context.Context, connectionID, name string) (*manifest.Stream, error) {
	m, err := c.find.ManifestOf(ctx, connectionID)
	if err != nil {
		return nil, err
	}
	if declared := declaration.DescribeStream(m, name); declared != nil {
		return declared, nil
	}
	found, err := c.store.Streams(ctx, connectionID)
	if err != nil {
		return nil, faults.OwnerError(err, "list the streams")
	}
	for _, info := range found {
		if info.Name == name {
			return nil, nil
		}
	}
	return nil, unknownStream(name)
}

// unknownStream returns the error for a stream that the connection does not have.
func unknownStream(name string) *api.Error {
	e := api.NotFound(fmt.Sprintf("The connection has no stream %.80q.", name), "Choose one of its streams.")
	e.Param = "stream"
	return e
}
