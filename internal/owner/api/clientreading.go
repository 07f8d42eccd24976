package api

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"
)

func (c *Client) Streams(ctx context.Context, connectionID string) ([]Stream, error) {
	var got listed[Stream]
	q := url.Values{}
	given(q, "connection_id", connectionID)
	err := c.get(ctx, &got, q, "_ref", "explore", "streams")
	return got.Data, err
}

func (c *Client) Kept(ctx context.Context) (Kept, error) {
	return fetch[Kept](ctx, c, "_ref", "explore", "overview")
}

func (c *Client) Days(ctx context.Context, query DayQuery) ([]DayCount, error) {
	var got listed[DayCount]
	q := url.Values{}
	given(q, "connection_id", query.ConnectionID)
	given(q, "stream", query.Stream)
	given(q, "from", query.From)
	given(q, "to", query.To)
	if query.Nearest {
		q.Set("nearest", "true")
	}
	err := c.get(ctx, &got, q, "_ref", "explore", "days")
	return got.Data, err
}

func (c *Client) Records(ctx context.Context, query RecordQuery) (RecordPage, error) {
	q := url.Values{}
	given(q, "connection_id", query.ConnectionID)
	given(q, "stream", query.Stream)
	given(q, "cursor", query.Cursor)
	count(q, "limit", int64(query.Limit))
	if query.Oldest {
		q.Set("order", "asc")
	}
	if query.Changes {
		q.Set("changes", "true")
	}
	conditions(q, query.Where, query.Compare)
	if query.ByTime {
		q.Set("by", "time")
	}
	moment(q, "since", query.Since)
	moment(q, "until", query.Until)
	given(q, "thread", query.Thread)
	for name, list := range map[string][]string{"keys": query.Keys, "fields": query.Fields} {
		if list == nil {
			continue
		}
		text, err := json.Marshal(list)
		if err != nil {
			return RecordPage{}, err
		}
		q.Set(name, string(text))
	}
	if query.Total {
		q.Set("total", "true")
	}
	if query.Completeness {
		q.Set("completeness", "true")
	}
	return c.recordPage(ctx, q, "_ref", "explore", "records")
}

func moment(q url.Values, name string, at time.Time) {
	if !at.IsZero() {
		q.Set(name, at.UTC().Format(time.RFC3339Nano))
	}
}

func conditions(q url.Values, where map[string]string, compare Comparisons) {
	for field, value := range where {
		q.Set("filter["+field+"]", value)
	}
	for by, value := range compare {
		q.Set("filter["+by.Field+"]["+by.Operator+"]", value)
	}
}

func (c *Client) Aggregate(ctx context.Context, query AggregateQuery) (Aggregation, error) {
	q := url.Values{}
	given(q, "connection_id", query.ConnectionID)
	given(q, "stream", query.Stream)
	given(q, "metric", query.Metric)
	given(q, "field", query.Field)
	given(q, "group_by", query.GroupBy)
	given(q, "granularity", query.Granularity)
	count(q, "groups", int64(query.Limit))
	conditions(q, query.Where, query.Compare)
	var got Aggregation
	err := c.get(ctx, &got, q, "_ref", "explore", "aggregate")
	return got, err
}

func (c *Client) Changes(ctx context.Context, r ChangeQuery) ([]Record, error) {
	var got listed[Record]
	q := url.Values{}
	given(q, "connection_id", r.ConnectionID)
	given(q, "stream", r.Stream)
	count(q, "after", r.After)
	count(q, "limit", int64(r.Limit))
	err := c.get(ctx, &got, q, "_ref", "explore", "changes")
	clearNulls(got.Data)
	return got.Data, err
}

func (c *Client) Search(ctx context.Context, query SearchQuery) (RecordPage, error) {
	q := url.Values{}
	given(q, "q", query.Text)
	given(q, "connection_id", query.ConnectionID)
	given(q, "stream", query.Stream)
	given(q, "cursor", query.Cursor)
	count(q, "limit", int64(query.Limit))
	return c.recordPage(ctx, q, "_ref", "search")
}

func (c *Client) recordPage(ctx context.Context, q url.Values, path ...string) (RecordPage, error) {
	var got RecordPage
	err := c.get(ctx, &got, q, path...)
	clearNulls(got.Records)
	return got, err
}

func (c *Client) Record(ctx context.Context, connectionID, stream, key string) (Record, []Record, error) {
	var got struct {
		Record   Record   `json:"record"`
		Versions []Record `json:"versions"`
	}
	err := c.get(ctx, &got, nil, "_ref", "explore", "records", connectionID, stream, key)
	newest := []Record{got.Record}
	clearNulls(newest)
	clearNulls(got.Versions)
	return newest[0], got.Versions, err
}

// clearNulls gives a deletion no data instead of the text "null".
func clearNulls(records []Record) {
	for i := range records {
		if string(records[i].Data) == "null" {
			records[i].Data = nil
		}
	}
}

// Export copies what the server sends. It ends with an error when the server ends it
// midway, and when the server sends nothing for a minute.
func (c *Client) Export(ctx context.Context, w io.Writer, query ExportQuery) error {
	q := url.Values{}
	given(q, "connection_id", query.ConnectionID)
	given(q, "stream", query.Stream)
	given(q, "format", query.Format)
	return c.download(ctx, w, request{method: http.MethodGet, path: []string{"_ref", "export"}, query: q},
		copyFaults{"export_not_written", "The export cannot be written here.", "The export ended before it was complete.", "Delete what was written and export again."})
}

// CopyFile copies what the server sends, as Export does.
func (c *Client) CopyFile(ctx context.Context, w io.Writer, sha256 string) error {
	return c.download(ctx, w, request{method: http.MethodGet, path: []string{"_ref", "files", sha256}},
		copyFaults{"file_not_written", "The file cannot be written here.", "The file ended before it was complete.", "Delete what was written and get it again."})
}

// copyFaults are the words for what goes wrong on the way.
type copyFaults struct{ code, unwritten, broken, again string }

func (c *Client) download(ctx context.Context, w io.Writer, r request, faults copyFaults) error {
	watched, cancel := context.WithCancel(ctx)
	defer cancel()
	stalled := time.AfterFunc(answerTime, cancel)
	defer stalled.Stop()
	resp, err := c.do(watched, r)
	if err != nil {
		return c.transportError(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return c.answerError(resp)
	}
	return c.copyDownload(ctx, w, &wakeful{resp.Body, stalled}, faults)
}

func (c *Client) copyDownload(ctx context.Context, w io.Writer, from io.Reader, faults copyFaults) error {
	piece := make([]byte, 64<<10)
	for {
		n, err := from.Read(piece)
		if n > 0 {
			if _, err := w.Write(piece[:n]); err != nil {
				return &Error{Status: http.StatusInsufficientStorage, Code: faults.code, Err: err,
					Message: faults.unwritten, Next: "Look at the space and the rights of the place that it goes to."}
			}
		}
		switch {
		case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			e := c.transportError(ctx, err)
			e.Message, e.Next = faults.broken, faults.again
			return e
		}
	}
}

// wakeful puts the stall off with every piece.
type wakeful struct {
	io.Reader
	stalled *time.Timer
}

func (w *wakeful) Read(b []byte) (int, error) {
	n, err := w.Reader.Read(b)
	w.stalled.Reset(answerTime)
	return n, err
}
