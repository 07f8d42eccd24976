package api

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// Import sends the file as it is read. It ends when the server takes nothing for a minute.
func (c *Client) Import(ctx context.Context, connectionID string, f ImportFile) (Import, error) {
	var got Import
	watched, cancel := context.WithCancel(ctx)
	defer cancel()
	stalled := time.AfterFunc(answerTime, cancel)
	defer stalled.Stop()
	content := f.Content
	if content == nil {
		content = http.NoBody
	}
	resp, err := c.do(watched, request{method: http.MethodPost, path: []string{"_ref", "connections", connectionID, "imports"},
		query: url.Values{"name": {f.Name}}, content: &wakeful{content, stalled}, bytes: f.Bytes})
	if err != nil {
		return got, c.transportError(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return got, c.answerError(resp)
	}
	return got, c.decode(ctx, resp, &got)
}

func (c *Client) Imports(ctx context.Context, connectionID string) ([]Import, error) {
	var got listed[Import]
	err := c.get(ctx, &got, nil, "_ref", "connections", connectionID, "imports")
	return got.Data, err
}

func (c *Client) ImportByID(ctx context.Context, id string) (Import, error) {
	return fetch[Import](ctx, c, "_ref", "imports", id)
}

func (c *Client) UndoImport(ctx context.Context, id string) (Import, error) {
	var got Import
	err := c.send(ctx, http.MethodPost, nil, &got, "_ref", "imports", id, "undo")
	return got, err
}
