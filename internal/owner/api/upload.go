package api

import (
	"context"
	"io"
	"time"
)

// Uploading is giving a large file in pieces. What was cut in the middle goes on where it stopped,
// also after the server was restarted.
type Uploading interface {
	// BeginUpload makes place for a file. Content that the connection has already has its receipt in
	// Import at once, and needs no piece; an upload of the same content that was broken off is given
	// as it is.
	BeginUpload(ctx context.Context, connectionID string, n NewUpload) (Upload, error)
	// Uploads lists what of a connection's files has not come to its end.
	Uploads(ctx context.Context, connectionID string) ([]Upload, error)
	// UploadByID tells how much has come.
	UploadByID(ctx context.Context, connectionID, id string) (Upload, error)
	// AddPiece takes what follows what has come. What came before an error stays. With the last byte
	// the content is compared with its hash, and is imported as a file that came at once: the
	// receipt is in Import. Content that is not what was said is not kept.
	AddPiece(ctx context.Context, connectionID, id string, p Piece) (Upload, error)
	// DropUpload takes away what has come.
	DropUpload(ctx context.Context, connectionID, id string) error
}

// NewUpload is a file that is to come in pieces.
type NewUpload struct {
	Name  string `json:"name"` // as the owner calls it; nothing of it leads anywhere
	Bytes int64  `json:"bytes"`
	// SHA256 of the content, in hexadecimal digits. Who does not know it yet says it with the last
	// piece.
	SHA256 string `json:"sha256,omitempty"`
}

// Piece is a part of a file.
type Piece struct {
	Offset  int64  // where it begins: what has come so far
	SHA256  string // of the whole file; empty when it was said, or is said later
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
	Received     int64  `json:"received"`
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
