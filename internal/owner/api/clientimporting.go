package api

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"time"
)

// Import sends the file as it is read, a large one in pieces if it can be read again.
func (c *Client) Import(ctx context.Context, connectionID string, f ImportFile) (Import, error) {
	if content, again := f.Content.(io.ReadSeeker); again && f.Bytes > PieceBytes {
		return c.importInPieces(ctx, connectionID, f, content)
	}
	var got Import
	err := c.sendContent(ctx, request{method: http.MethodPost, path: []string{"_ref", "connections", connectionID, "imports"},
		query: url.Values{"name": {f.Name}}, content: f.Content, bytes: f.Bytes}, &got)
	return got, err
}

// sendContent sends a body as it is read. It ends when the server takes nothing for a minute.
func (c *Client) sendContent(ctx context.Context, q request, into any) error {
	watched, cancel := context.WithCancel(ctx)
	defer cancel()
	stalled := time.AfterFunc(answerTime, cancel)
	defer stalled.Stop()
	if q.content == nil {
		q.content = http.NoBody
	}
	q.content = &wakeful{q.content, stalled}
	resp, err := c.do(watched, q)
	if err != nil {
		return c.transportError(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return c.answerError(resp)
	}
	return c.decode(ctx, resp, into)
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
