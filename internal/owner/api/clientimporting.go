package api

import (
	"context"
	"io"
	"net/http"
	"time"
)

// Import sends the file as it is read, a large one in pieces if it can be read again.
func (c *Client) Import(ctx context.Context, connectionID string, f ImportFile) (Import, error) {
	if content, again := f.Content.(io.ReadSeeker); again && f.Bytes > PieceBytes {
		return c.importInPieces(ctx, connectionID, f, content)
	}
	asked, err := OperationOf("Import").request([]any{connectionID, f})
	if err != nil {
		return Import{}, err
	}
	var got Import
	err = c.sendContent(ctx, asked, &got)
	return got, err
}

// sendContent sends a body as it is read. It ends when the server takes nothing for a minute.
func (c *Client) sendContent(ctx context.Context, q request, into any) error {
	watched, cancel := context.WithCancel(ctx)
	defer cancel()
	stalled := time.AfterFunc(wholeAnswerTime, cancel)
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
