package reading

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

const (
	usualPage    = 25
	largestPage  = 100
	versionsKept = 50

	usualChanges = 100
	mostChanges  = 1000
)

// recordsCursor is the kind of a cursor through a stream.
const recordsCursor = "owner_records"

func clampPageSize(limit int) int {
	if limit <= 0 {
		return usualPage
	}
	return min(limit, largestPage)
}

// Records returns a page of one stream of one connection.
func (c *Collection) Records(ctx context.Context, q api.RecordQuery) (api.RecordPage, error) {
	declared, err := c.declaredStream(ctx, q.ConnectionID, q.Stream)
	if err != nil {
		return api.RecordPage{}, err
	}
	if q.ByTime {
		return c.recordsByTime(ctx, q, declared)
	}
	if !q.Since.IsZero() || !q.Until.IsZero() || q.Thread != "" || q.Fields != nil || q.Total {
		return api.RecordPage{}, api.Invalid("by",
			"Since, until, thread, fields and total are for a list in the order of time.", "Add by=time.")
	}
	if len(q.Keys) > largestPage {
		return api.RecordPage{}, api.Invalid("keys", "These are more keys than one answer holds.", "Ask for at most 100.")
	}
	where, err := streamFilters(declared, q.Where)
	if err != nil {
		return api.RecordPage{}, err
	}
	compare, err := comparisons(declared, q.Compare)
	if err != nil {
		return api.RecordPage{}, err
	}
	box, err := c.pageCursors(ctx)
	if err != nil {
		return api.RecordPage{}, err
	}
	ask := store.RecordQuery{
		AccessFilter: store.AccessFilter{ConnectionID: q.ConnectionID, Stream: q.Stream, Keys: q.Keys}, Where: where,
		Compare: compare, NewestFirst: !q.Oldest, Limit: clampPageSize(q.Limit) + 1,
	}
	place := append([]string{q.ConnectionID, q.Stream, strconv.FormatBool(q.Oldest), strconv.FormatBool(q.Changes),
		strconv.Itoa(len(q.Keys))}, q.Keys...)
	for _, w := range where {
		place = append(place, w.Field, w.Value)
	}
	for _, by := range compare {
		place = append(place, by.Field, string(by.Op), by.Value)
	}
	bound := grants.Context(place...)
	if q.Cursor != "" {
		if err := box.Open(recordsCursor, bound, q.Cursor, &ask.AfterSeq); err != nil {
			return api.RecordPage{}, faults.OwnerError(err, "open the cursor")
		}
	}
	read := c.store.ListRecords
	if q.Changes {
		read = c.store.Changes
	}
	found, err := read(ctx, ask)
	if err != nil {
		return api.RecordPage{}, faults.OwnerError(err, "read the records")
	}
	return recordPage(found, ask.Limit-1,
		func(last store.StoredRecord) string { return box.Seal(recordsCursor, bound, last.Seq) }), nil
}

// Changes lists each key of a stream at its newest change.
func (c *Collection) Changes(ctx context.Context, q api.ChangeQuery) ([]api.Record, error) {
	if _, err := c.declaredStream(ctx, q.ConnectionID, q.Stream); err != nil {
		return nil, err
	}
	if q.Limit <= 0 {
		q.Limit = usualChanges
	}
	found, err := c.store.Changes(ctx, store.RecordQuery{
		AccessFilter: store.AccessFilter{ConnectionID: q.ConnectionID, Stream: q.Stream}, AfterSeq: q.After,
		Limit: min(q.Limit, mostChanges),
	})
	if err != nil {
		return nil, faults.OwnerError(err, "read the changes")
	}
	out := recordPage(found, len(found), nil).Records
	for i := range found {
		out[i].Seq = found[i].Seq
	}
	return out, nil
}

// recordPage converts records to a page. One record more than size means that there is a next page.
func recordPage(found []store.StoredRecord, size int, next func(last store.StoredRecord) string) api.RecordPage {
	out := api.RecordPage{Records: []api.Record{}}
	if len(found) > size {
		found = found[:size]
		out.Next = next(found[size-1])
	}
	for i := range found {
		out.Records = append(out.Records, showRecord(&found[i]))
	}
	return out
}

func showRecord(r *store.StoredRecord) api.Record {
	out := api.Record{
		ConnectionID: r.ConnectionID, Stream: r.Stream, Key: r.Key, Data: json.RawMessage(r.Data), ChangedAt: r.ChangedAt,
		Version: r.Version, Deleted: r.Deleted,
	}
	if len(r.Data) == 0 {
		out.Data = json.RawMessage("null")
	}
	emitted, err := time.Parse(time.RFC3339Nano, r.EmittedAt)
	if err != nil {
		emitted = r.ChangedAt // an older store kept what the connector wrote
	}
	out.EmittedAt = emitted
	return out
}

// streamFilters are the wanted values of fields that the manifest lets readers filter by, in
// the order of their names.
func streamFilters(declared *manifest.Stream, where map[string]string) ([]store.FieldValue, error) {
	var out []store.FieldValue
	for _, name := range slices.Sorted(maps.Keys(where)) {
		if declared == nil || declared.Query == nil || !slices.Contains(declared.Query.Filter, name) {
			return nil, &api.Error{Status: http.StatusBadRequest, Code: api.CodeUnknownField, Param: "filter[" + name + "]",
				Message: fmt.Sprintf("Records cannot be filtered by %.80q: the connector does not declare it, and looking "+
					"through all of them would be slow.", name),
				Next: "Use one of the stream's filter fields."}
		}
		out = append(out, store.FieldValue{Field: name, Value: where[name]})
	}
	return out, nil
}

// Record returns one record with its earlier versions, the newest first.
func (c *Collection) Record(ctx context.Context, connectionID, stream, key string) (api.Record, []api.Record, error) {
	r, err := c.store.Record(ctx, connectionID, stream, key)
	if errors.Is(err, store.ErrNotFound) {
		e := api.NotFound("There is no such record.", "Look for it with a search.")
		e.Err = err
		return api.Record{}, nil, e
	}
	if err != nil {
		return api.Record{}, nil, faults.OwnerError(err, "read the record")
	}
	var past []store.StoredRecord
	if r.Version > 1 {
		if past, err = c.store.History(ctx, connectionID, stream, key, versionsKept); err != nil {
			return api.Record{}, nil, faults.OwnerError(err, "read the earlier versions")
		}
	}
	versions := make([]api.Record, len(past))
	for i := range past {
		versions[i] = showRecord(&past[i])
	}
	out := showRecord(&r)
	out.Files, err = c.recordFiles(ctx, r.ID)
	return out, versions, err
}
