package notion

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// pageSize is the largest page that Notion serves.
const pageSize = 100

// errFrame is an answer that decodes but is not what it should be. To read it as an empty page would be to call
// data complete that is not there.
var errFrame = errors.New("the answer is not a list")

// api makes requests. None of its methods waits or retries.
type api struct {
	client *governhttp.Client
	links  *links
	merge  *merge // the list of pages that is being read; nil before the first

	sources    []source // read once in a run
	allSources bool
}

// list is one page of anything. It may hold fewer things than were asked for, and none, although more follow.
type list struct {
	rows []jsontext.Value
	next string // cursor of the next page; empty on the last
	// cut reports that Notion has more than it lists: a query ends at a number of results.
	cut bool
}

func (a *api) do(ctx context.Context, r governhttp.Request, into any) error {
	resp, err := a.client.Do(ctx, r)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(resp.Body, into); err != nil {
		return connectorkit.Fail(connectorkit.Malformed, err)
	}
	return nil
}

func (a *api) list(ctx context.Context, r governhttp.Request) (list, error) {
	var wire struct {
		Results *[]jsontext.Value `json:"results"`
		Next    *string           `json:"next_cursor"`
		More    bool              `json:"has_more"`
		Status  struct {
			Type string `json:"type"`
		} `json:"request_status"`
	}
	if err := a.do(ctx, r, &wire); err != nil {
		return list{}, err
	}
	if wire.Results == nil || wire.More && (wire.Next == nil || *wire.Next == "") {
		return list{}, connectorkit.Fail(connectorkit.Malformed, errFrame)
	}
	out := list{rows: *wire.Results, cut: wire.Status.Type == "incomplete"}
	if wire.More {
		out.next = *wire.Next
	}
	return out, nil
}

// search asks for pages or data sources, the last edited first.
func (a *api) search(ctx context.Context, object, cursor string) (list, error) {
	return a.post(ctx, "v1/search", cursor, map[string]any{
		"filter": map[string]string{"property": "object", "value": object},
		"sort":   map[string]string{"direction": "descending", "timestamp": "last_edited_time"},
	})
}

// query asks for the rows of a data source that were edited at a moment or later, the last edited first.
func (a *api) query(ctx context.Context, id string, from time.Time, cursor string) (list, error) {
	question := map[string]any{"sorts": []any{map[string]string{"direction": "descending",
		"timestamp": "last_edited_time"}}}
	if !from.IsZero() {
		question["filter"] = map[string]any{"timestamp": "last_edited_time",
			"last_edited_time": map[string]string{"on_or_after": from.UTC().Format(time.RFC3339)}}
	}
	return a.post(ctx, "v1/data_sources/"+url.PathEscape(id)+"/query", cursor, question)
}

func (a *api) post(ctx context.Context, path, cursor string, question map[string]any) (list, error) {
	question["page_size"] = pageSize
	if cursor != "" {
		question["start_cursor"] = cursor
	}
	body, err := json.Marshal(question, json.Deterministic(true))
	if err != nil {
		return list{}, connectorkit.Fail(connectorkit.Malformed, err)
	}
	return a.list(ctx, governhttp.Request{Method: http.MethodPost, Path: path, Body: body})
}

// read asks for one page, database or data source. One that is in the trash, and one that Notion does not know or
// that is not shared any more, which Notion does not distinguish, is Gone.
func (a *api) read(ctx context.Context, kind, id string) (jsontext.Value, error) {
	var raw jsontext.Value
	err := a.do(ctx, governhttp.Request{Path: "v1/" + kind + "/" + url.PathEscape(id)}, &raw)
	var thing common
	if err == nil && json.Unmarshal(raw, &thing) != nil {
		return nil, connectorkit.Fail(connectorkit.Malformed, errFrame)
	}
	if refused := of(err); refused == connectorkit.NotFound || err == nil && (thing.Archived || thing.Trash) {
		return nil, connectorkit.Fail(connectorkit.Gone, err)
	}
	return raw, err
}

// of is the class of an error; empty when it has none.
func of(err error) connectorkit.Class {
	var e *connectorkit.Error
	if errors.As(err, &e) {
		return e.Class
	}
	return ""
}
