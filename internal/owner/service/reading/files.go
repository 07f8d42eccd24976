package reading

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// recordFiles are the files of a record.
func (c *Collection) recordFiles(ctx context.Context, recordID int64) (out []api.File, err error) {
	all, err := c.store.RecordBlobs(ctx, []int64{recordID})
	if err != nil {
		return nil, faults.OwnerError(err, "list the files of the record")
	}
	for _, b := range all[recordID] {
		out = append(out, api.File(b))
	}
	return out, nil
}

// CopyFile writes a file that some record has.
func (c *Collection) CopyFile(ctx context.Context, w io.Writer, sha256 string) error {
	found, err := c.store.FindBlob(ctx, sha256, nil)
	if errors.Is(err, store.ErrNotFound) || err == nil && c.files == nil {
		return api.NotFound("No record has such a file.", "Look at the record: pdpp record STREAM KEY shows its files.")
	}
	if err != nil {
		return faults.OwnerError(err, "look for the file")
	}
	f, err := c.files.Open(ctx, found.SHA256)
	if errors.Is(err, blob.ErrNotFound) {
		return &api.Error{Status: http.StatusInternalServerError, Code: "file_missing", Err: err,
			Message: "The file of this record is not where files are kept.",
			Next:    "pdpp doctor says which are missing, and what brings them back."}
	}
	if err != nil {
		return faults.OwnerError(err, "open the file")
	}
	defer func() { _ = f.Close() }()
	for {
		_, err := io.CopyN(w, f, filePiece)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			_, err = c.store.FindBlob(ctx, sha256, nil)
		}
		if errors.Is(err, store.ErrNotFound) {
			return api.NotFound("The file was deleted while it was read.", "Look at the record again.")
		}
		if err != nil {
			return faults.OwnerError(err, "copy the file")
		}
	}
}

// filePiece is how much of a file is copied before it is looked up again: the owner may have deleted it.
const filePiece = 1 << 20
