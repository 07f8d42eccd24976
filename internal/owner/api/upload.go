package api

import (
	"context"
	"io"
	"time"
)

// Uploading is giving a large file in pieces. What was cut in the middle goes on where it stopped,
// also after the server was restarted.
type Uploading interface {
	// BeginUpload starts the upload of a file. If the connection already has the content, Import holds its receipt,
	// and no piece is needed. If an upload of the same content was interrupted, BeginUpload returns that upload.
	BeginUpload(ctx context.Context, connectionID string, n NewUpload) (Upload, error)
	// Uploads lists what of a connection's files has not come to its end.
	Uploads(ctx context.Context, connectionID string) ([]Upload, error)
	// UploadByID returns the upload with the number of bytes received.
	UploadByID(ctx context.Context, connectionID, id string) (Upload, error)
	// AddPiece appends a piece to the received bytes. Bytes received before an error stay stored. After the last byte
	// the server compares the content with its hash and imports the file; Import holds the receipt. The server
	// discards content that does not match the hash.
	AddPiece(ctx context.Context, connectionID, id string, p Piece) (Upload, error)
	// DropUpload takes away what has come.
	DropUpload(ctx context.Context, connectionID, id string) error
}

// NewUpload is a file that is to come in pieces.
type NewUpload struct {
	Name  string `json:"name"`  // as the owner calls it; nothing of it leads anywhere
	Bytes int64  `json:"bytes"` // at least 1
	// SHA256 of the content, in hexadecimal digits. A client that does not know it yet sends it with the last piece.
	SHA256 string `json:"sha256,omitempty"`
}

// Piece is a part of a file.
type Piece struct {
	Offset  int64  `query:"offset" required:"true"` // where it begins: what has come so far
	SHA256  string `query:"sha256"`                 // of the whole file; empty if sent before or later
	Bytes   int64  // of the piece, as far as it is known; zero for not
	Content io.Reader
}

// Upload is a file that comes in pieces.
type Upload struct {
	// ID is empty when Import was there before.
	ID           string `json:"upload_id,omitempty"`
	ConnectionID string `json:"connection_id"`
	Name         string `json:"name"`
	Bytes        int64  `json:"bytes"`
	Received     int64  `json:"received"` // how much has arrived: where the next piece begins
	// KeptUntil is when what has come is taken away, unless more comes.
	KeptUntil *time.Time `json:"kept_until"`
	// Import is the receipt, once the file is whole.
	Import *Import `json:"import,omitempty"`
}

// PieceBytes is how much of a file is well sent at once: enough that asking costs nothing, and so
// little that a cut loses seconds.
const PieceBytes = 8 << 20

// Codes of errors about uploads.
const (
	CodeUploadOffset   = "upload_offset"
	CodeTooManyUploads = "too_many_uploads"
	CodeFileDiffers    = "file_differs"
)
