package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// Export copies what the server sends. It ends with an error when the server ends it
// midway, and when the server sends nothing for a minute.
func (c *Client) Export(ctx context.Context, w io.Writer, query ExportQuery) error {
	return c.download(ctx, w, "Export", query, copyFaults{"export_not_written", "The export cannot be written here.",
		"The export ended before it was complete.", "Delete what was written and export again."})
}

// CopyFile copies what the server sends, as Export does.
func (c *Client) CopyFile(ctx context.Context, w io.Writer, sha256 string) error {
	return c.download(ctx, w, "CopyFile", sha256, copyFaults{"file_not_written", "The file cannot be written here.",
		"The file ended before it was complete.", "Delete what was written and get it again."})
}

// copyFaults are the words for what goes wrong on the way.
type copyFaults struct{ code, unwritten, broken, again string }

func (c *Client) download(ctx context.Context, w io.Writer, method string, argument any, faults copyFaults) error {
	asked, err := OperationOf(method).request([]any{argument})
	if err != nil {
		return err
	}
	watched, cancel := context.WithCancel(ctx)
	defer cancel()
	stalled := time.AfterFunc(wholeAnswerTime, cancel)
	defer stalled.Stop()
	resp, err := c.do(watched, asked)
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
	w.stalled.Reset(wholeAnswerTime)
	return n, err
}
