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

// maxPageSize is the largest page that Notion serves.
const maxPageSize = 100

// errUnexpectedShape is an answer that decodes but is not a list. Reading it as an empty page would report missing
// data as complete.
var errUnexpectedShape = errors.New("the answer is not a list")

// apiClient makes requests. None of its methods waits or retries.
type apiClient struct {
	client *governhttp.Client
	links  *childLinks
	merge  *mergedPageList // the list of pages that is being read; nil before the first

	sources    []dataSource // read once in a run
	allSources bool
}

// resultPage is one page of results. It may hold fewer items than requested, or none, although more follow.
type resultPage struct {
	rows []jsontext.Value
	next string // cursor of the next page; empty on the last
	// cut reports that Notion has more than it lists: a query ends at a number of results.
	cut bool
}

func (a *apiClient) sendRequest(ctx context.Context, r governhttp.Request, into any) error {
	resp, err := a.client.Do(ctx, r)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(resp.Body, into); err != nil {
		return connectorkit.Fail(connectorkit.Malformed, err)
	}
	return nil
}

func (a *apiClient) fetchResultPage(ctx context.Context, r governhttp.Request) (resultPage, error) {
	var wire struct {
		Results *[]jsontext.Value `json:"results"`
		Next    *string           `json:"next_cursor"`
		More    bool              `json:"has_more"`
		Status  struct {
			Type string `json:"type"`
		} `json:"request_status"`
	}
	if err := a.sendRequest(ctx, r, &wire); err != nil {
		return resultPage{}, err
	}
	if wire.Results == nil || wire.More && (wire.Next == nil || *wire.Next == "") {
		return resultPage{}, connectorkit.Fail(connectorkit.Malformed, errUnexpectedShape)
	}
	out := resultPage{rows: *wire.Results, cut: wire.Status.Type == "incomplete"}
	if wire.More {
		out.next = *wire.Next
	}
	return out, nil
}

// searchObjects asks for pages or data sources, the last edited first.
func (a *apiClient) searchObjects(ctx context.Context, object, cursor string) (resultPage, error) {
	return a.postPagedQuery(ctx, "v1/search", cursor, map[string]any{
		"filter": map[string]string{"property": "object", "value": object},
		"sort":   map[string]string{"direction": "descending", "timestamp": "last_edited_time"},
	})
}

// queryDataSource asks for the rows of a data source that were edited at a moment or later, the last edited first.
func (a *apiClient) queryDataSource(ctx context.Context, id string, from time.Time, cursor string) (resultPage, error) {
	question := map[string]any{"sorts": []any{map[string]string{"direction": "descending",
		"timestamp": "last_edited_time"}}}
	if !from.IsZero() {
		question["filter"] = map[string]any{"timestamp": "last_edited_time",
			"last_edited_time": map[string]string{"on_or_after": from.UTC().Format(time.RFC3339)}}
	}
	return a.postPagedQuery(ctx, "v1/data_sources/"+url.PathEscape(id)+"/query", cursor, question)
}

func (a *apiClient) postPagedQuery(ctx context.Context, path, cursor string, question map[string]any) (resultPage,
	error) {
	question["page_size"] = maxPageSize
	if cursor != "" {
		question["start_cursor"] = cursor
	}
	body, err := json.Marshal(question, json.Deterministic(true))
	if err != nil {
		return resultPage{}, connectorkit.Fail(connectorkit.Malformed, err)
	}
	return a.fetchResultPage(ctx, governhttp.Request{Method: http.MethodPost, Path: path, Body: body})
}

// fetchObject requests one page, database or data source. It returns Gone for an object in the trash, and for one
// that does not exist or is no longer shared, which Notion does not distinguish.
func (a *apiClient) fetchObject(ctx context.Context, kind, id string) (jsontext.Value, error) {
	var raw jsontext.Value
	err := a.sendRequest(ctx, governhttp.Request{Path: "v1/" + kind + "/" + url.PathEscape(id)}, &raw)
	var thing commonObject
	if err == nil && json.Unmarshal(raw, &thing) != nil {
		return nil, connectorkit.Fail(connectorkit.Malformed, errUnexpectedShape)
	}
	if refused := failureClass(err); refused == connectorkit.NotFound || err == nil && (thing.Archived || thing.Trash) {
		return nil, connectorkit.Fail(connectorkit.Gone, err)
	}
	return raw, err
}

// failureClass returns the class of an error; empty when it has none.
func failureClass(err error) connectorkit.Class {
	var e *connectorkit.Error
	if errors.As(err, &e) {
		return e.Class
	}
	return ""
}
