package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

const (
	// firstUploadPause and longestUploadPause bound the pause between two attempts to resume an upload. patience is how
	// long attempts may fail before the client returns the error.
	firstUploadPause   = 500 * time.Millisecond
	longestUploadPause = 15 * time.Second
	patience           = 10 * time.Minute
)

// AddPiece sends the piece as it is read. It ends when the server takes nothing for a minute.
func (c *Client) AddPiece(ctx context.Context, connectionID, id string, p Piece) (Upload, error) {
	asked, err := OperationOf("AddPiece").request([]any{connectionID, id, p})
	if err != nil {
		return Upload{}, err
	}
	asked.query.Set("offset", strconv.FormatInt(p.Offset, 10)) // also of the first piece
	var got Upload
	err = c.sendContent(ctx, asked, &got)
	return got, err
}

// importInPieces uploads a large file in pieces and resumes after an interruption on either side. Running the same
// command again also resumes, because the server finds the upload by its content.
func (c *Client) importInPieces(ctx context.Context, connectionID string, f ImportFile, content io.ReadSeeker) (Import,
	error) {
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
	pause, since := firstUploadPause, time.Now()
	for at.Import == nil {
		before := at.Received
		at, err = c.nextPiece(ctx, connectionID, at, content)
		if at.Received > before {
			pause, since = firstUploadPause, time.Now()
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
		pause = min(2*pause, longestUploadPause)
		switch now, lost := c.UploadByID(ctx, connectionID, at.ID); {
		case lost == nil:
			at = now
		case missing(lost): // the upload finished and the response was lost, or another client dropped it
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

// nextPiece sends the piece that follows the received bytes. On an error it returns the upload unchanged.
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

// reading records read errors of the file, to distinguish them from transport errors.
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

// passing reports whether an upload may resume after an error: the connection broke, the server is unavailable or
// busy, or another client sent a piece.
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
	return &Error{Status: http.StatusBadRequest, Code: CodeFileCut, Param: "file", Err: err,
		Message: "The file could not be read to its end.", Next: "Check the disk that it is on, then give it again."}
}
