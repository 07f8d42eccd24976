package example

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// pageSize is the largest page that Lumen serves.
const pageSize = "200"

// errFrame is an answer that decodes but lacks a member that Lumen always sends.
// To read it as an empty page would be to call data complete that is not there.
var errFrame = errors.New("the answer lacks a documented member")

// lumen reads the service. Each method is one kind of request; none of them
// waits, retries or remembers.
type lumen struct {
	client *governhttp.Client
}

// events reads the append-only log. Lumen's cursor keeps working: used in a
// later run, it gives what was appended since.
func (l *lumen) events(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	var answer struct {
		Events []jsontext.Value `json:"events"`
		Next   string           `json:"next_cursor"`
		More   bool             `json:"has_more"`
	}
	if err := l.get(ctx, "v1/events", query("cursor", at["cursor"]), &answer); err != nil {
		return connectorkit.Page{}, err
	}
	if answer.Events == nil || answer.Next == "" {
		return connectorkit.Page{}, connectorkit.Fail(connectorkit.Malformed, errFrame)
	}
	page := connectorkit.Page{Next: connectorkit.Cursor{"cursor": answer.Next}, More: answer.More}
	for _, raw := range answer.Events {
		page.Records = append(page.Records, event(raw))
	}
	return page, nil
}

// notes reads the change feed. A deleted note comes as a tombstone.
func (l *lumen) notes(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	var answer struct {
		Notes []jsontext.Value `json:"notes"`
		Next  string           `json:"next_since"`
		More  bool             `json:"has_more"`
	}
	if err := l.get(ctx, "v1/notes/changes", query("since", at["since"]), &answer); err != nil {
		return connectorkit.Page{}, err
	}
	if answer.Notes == nil || answer.Next == "" {
		return connectorkit.Page{}, connectorkit.Fail(connectorkit.Malformed, errFrame)
	}
	page := connectorkit.Page{Next: connectorkit.Cursor{"since": answer.Next}, More: answer.More}
	for _, raw := range answer.Notes {
		page.Records = append(page.Records, note(raw))
	}
	if !page.More { // what changes while it is read comes again, later
		page.Whole = &connectorkit.Whole{Gone: connectorkit.AllGone}
	}
	return page, nil
}

// threads lists a window, newest first. Lumen's bounds are inclusive, as the
// kit's are.
func (l *lumen) threads(ctx context.Context, w connectorkit.Window) (connectorkit.ListPage, error) {
	var answer struct {
		Threads []jsontext.Value `json:"threads"`
		Next    string           `json:"next_page"`
	}
	q := query("before", bound(w.Before), "after", bound(w.After), "page", w.Token)
	if err := l.get(ctx, "v1/threads", q, &answer); err != nil {
		return connectorkit.ListPage{}, err
	}
	if answer.Threads == nil {
		return connectorkit.ListPage{}, connectorkit.Fail(connectorkit.Malformed, errFrame)
	}
	page := connectorkit.ListPage{Next: answer.Next}
	for _, raw := range answer.Threads {
		page.Items = append(page.Items, threadItem(raw))
	}
	return page, nil
}

// thread fetches the messages of one thread. The key is all it needs.
func (l *lumen) thread(ctx context.Context, item connectorkit.Item) ([]connectorkit.Record, error) {
	var answer struct {
		Messages []jsontext.Value `json:"messages"`
	}
	if err := l.get(ctx, "v1/threads/"+url.PathEscape(item.Key), nil, &answer); err != nil {
		return nil, err
	}
	if answer.Messages == nil {
		return nil, connectorkit.Fail(connectorkit.Malformed, errFrame)
	}
	records := make([]connectorkit.Record, 0, len(answer.Messages))
	for _, raw := range answer.Messages {
		records = append(records, message(item.Key, raw))
	}
	return records, nil
}

// get makes one request and decodes the frame of its answer. The things inside
// stay raw, so that a malformed one spoils itself and not its page.
func (l *lumen) get(ctx context.Context, path string, q url.Values, into any) error {
	resp, err := l.client.Get(ctx, path, q)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(resp.Body, into); err != nil {
		return connectorkit.Fail(connectorkit.Malformed, err)
	}
	return nil
}

// query makes parameters from name-value pairs and leaves out empty values.
func query(pairs ...string) url.Values {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	q.Set("limit", pageSize)
	return q
}

// bound spells a window's end with full precision: Lumen keeps nanoseconds.
func bound(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
