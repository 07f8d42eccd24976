package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

const (
	// firstPause and longestPause are between two attempts to go on after a cut, and patience is
	// how long nothing may come of them before it is given up.
	firstPause   = 500 * time.Millisecond
	longestPause = 15 * time.Second
	patience     = 10 * time.Minute
)

func (c *Client) BeginUpload(ctx context.Context, connectionID string, n NewUpload) (Upload, error) {
	var got Upload
	err := c.send(ctx, http.MethodPost, n, &got, "_ref", "connections", connectionID, "uploads")
	return got, err
}

func (c *Client) Uploads(ctx context.Context, connectionID string) ([]Upload, error) {
	var got listed[Upload]
	err := c.get(ctx, &got, nil, "_ref", "connections", connectionID, "uploads")
	return got.Data, err
}

func (c *Client) UploadByID(ctx context.Context, connectionID, id string) (Upload, error) {
	return fetch[Upload](ctx, c, "_ref", "connections", connectionID, "uploads", id)
}

func (c *Client) DropUpload(ctx context.Context, connectionID, id string) error {
	return c.send(ctx, http.MethodDelete, nil, nil, "_ref", "connections", connectionID, "uploads", id)
}

// AddPiece sends the piece as it is read. It ends when the server takes nothing for a minute.
func (c *Client) AddPiece(ctx context.Context, connectionID, id string, p Piece) (Upload, error) {
	query := url.Values{"offset": {strconv.FormatInt(p.Offset, 10)}}
	if p.SHA256 != "" {
		query.Set("sha256", p.SHA256)
	}
	var got Upload
	err := c.sendContent(ctx, request{method: http.MethodPatch, path: []string{"_ref", "connections", connectionID, "uploads", id}, query: query, content: p.Content, bytes: p.Bytes}, &got)
	return got, err
}

// importInPieces gives a large file so that a cut costs little: whatever breaks, here, there or on the
// way, it goes on where it stopped. The same command again goes on too, because the upload is found
// by its content.
func (c *Client) importInPieces(ctx context.Context, connectionID string, f ImportFile, content io.ReadSeeker) (Import, error) {
	sum := sha256.New()
	n, err := io.Copy(sum, content)
	if err == nil && n != f.Bytes {
		err = fmt.Errorf("%d bytes of %d are there", n, f.Bytes)
	}
	if err != nil {
		return Import{}, unreadable(err)
	}
	begin := NewUpload{Name: f.Name, Bytes: f.Bytes, SHA256: hex.EncodeToString(sum.Sum(nil))}
	at, err := c.BeginUpload(ctx, connectionID, begin)
	if err != nil {
		return Import{}, err
	}
	pause, since := firstPause, time.Now()
	for at.Import == nil {
		before := at.Received
		at, err = c.nextPiece(ctx, connectionID, at, content)
		if at.Received > before {
			pause, since = firstPause, time.Now()
		}
		if err == nil {
			continue
		}
		if !passing(err) || time.Since(since) > patience {
			return Import{}, err
		}
		select {
		case <-ctx.Done():
			return Import{}, c.transportError(ctx, ctx.Err())
		case <-time.After(pause):
		}
		pause = min(2*pause, longestPause)
		switch now, lost := c.UploadByID(ctx, connectionID, at.ID); {
		case lost == nil:
			at = now
		case missing(lost): // it came to its end and the answer was lost, or somebody dropped it
			anew, err := c.BeginUpload(ctx, connectionID, begin)
			if err == nil {
				at = anew
			} else if !passing(err) {
				return Import{}, err
			}
		case !passing(lost):
			return Import{}, lost
		}
	}
	return *at.Import, nil
}

// nextPiece sends what follows what has come. Without an answer it gives the upload as it was.
func (c *Client) nextPiece(ctx context.Context, connectionID string, at Upload, content io.ReadSeeker) (Upload, error) {
	if _, err := content.Seek(at.Received, io.SeekStart); err != nil {
		return at, unreadable(err)
	}
	piece := Piece{Offset: at.Received, Bytes: min(PieceBytes, at.Bytes-at.Received)}
	read := &reading{Reader: io.LimitReader(content, piece.Bytes)}
	piece.Content = read
	got, err := c.AddPiece(ctx, connectionID, at.ID, piece)
	if read.err != nil {
		return at, unreadable(read.err)
	}
	if err != nil {
		return at, err
	}
	return got, nil
}

// reading tells errors of the file from those of the way.
type reading struct {
	io.Reader
	err error
}

func (r *reading) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

// passing reports whether an upload may go on after an error: the line broke, the server is away or
// busy, or somebody went on elsewhere.
func passing(err error) bool {
	known, ok := asError(err)
	if !ok {
		return false
	}
	switch known.Code {
	case CodeUploadOffset, CodeFileCut:
		return true
	case CodeNoRoom:
		return false
	}
	return known.Status >= http.StatusInternalServerError || known.Status == http.StatusTooManyRequests
}

func missing(err error) bool {
	known, ok := asError(err)
	return ok && known.Status == http.StatusNotFound
}

func unreadable(err error) *Error {
	return &Error{Status: http.StatusBadRequest, Code: CodeFileCut, Param: "file", Err: err, Message: "The file could not be read to its end.", Next: "Check the disk that it is on, then give it again."}
}
