package doctor

import (
	"context"
	"errors"
	"fmt"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/ops/text"
)

const fixFiles = "Restore the blobs folder from a backup, or let the sources bring them again: pdpp state rewind. " +
	"Where several machines share a database, they share this folder too."

// checkFiles compares the files of records with the rows that refer to them: they exist and have the right size. Files
// without a row are removed elsewhere.
func (x *checkup) checkFiles(ctx context.Context) {
	if x.Files == nil {
		return
	}
	rows, bytes, wrong, first := int64(0), int64(0), int64(0), ""
	for after := ""; ; {
		page, err := x.store.ListBlobs(ctx, after, 0)
		if err != nil {
			x.reportUnreadable(CheckFiles, err)
			return
		}
		if len(page) == 0 {
			break
		}
		for _, row := range page {
			after = row.SHA256
			rows, bytes = rows+1, bytes+row.Bytes
			kept, err := x.Files.Stat(ctx, row.SHA256)
			if err != nil && !errors.Is(err, blob.ErrNotFound) {
				x.reportFailure(CheckFiles, "the files of records cannot be read: "+errorLine(err),
					"Look at the rights of the blobs folder in "+x.Home+".")
				return
			}
			if err == nil && kept.Bytes == row.Bytes || row.UnreferencedAt != nil {
				continue
			}
			if wrong++; first == "" {
				first = row.SHA256
			}
		}
	}
	if wrong > 0 {
		x.reportFailure(CheckFiles, fmt.Sprintf("%s of %s that records refer to are missing or cut short, such as %s",
			text.Number(wrong), text.Count(rows, "file", "files"), first), fixFiles)
		return
	}
	x.reportGood(CheckFiles, fmt.Sprintf("the files of records are there: %s, %s", text.Count(rows, "file", "files"),
		text.Bytes(bytes)))
}
