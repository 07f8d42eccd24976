package imports

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// maxOpenUploads is how many unfinished uploads a connection can have.
const maxOpenUploads = 20

// uploadIDPattern matches the id of an upload, which is also part of its file names.
var uploadIDPattern = regexp.MustCompile(`^upl_[a-z0-9]{26}$`)

// BeginUpload creates an upload in pieces, or returns the unfinished upload of the same file.
func (s *FileImports) BeginUpload(ctx context.Context, id string, n api.NewUpload) (api.Upload, error) {
	conn, found, takes, err := s.importConnection(ctx, id)
	if err != nil {
		return api.Upload{}, err
	}
	name := safeFileName(n.Name)
	switch {
	case n.Bytes <= 0:
		return api.Upload{}, api.Invalid("bytes", "The file has no size, or is empty.", "Choose the file again.")
	case n.SHA256 != "" && !protocol.IsBlobHash(n.SHA256):
		return api.Upload{}, api.Invalid("sha256", "That is not the SHA-256 of a file.",
			"Send it as hexadecimal digits, or with the last piece.")
	}
	if err := checkFileAccepted(found, takes, name, n.Bytes); err != nil {
		return api.Upload{}, err
	}
	if n.SHA256 != "" {
		known, is, err := s.findImportByHash(ctx, id, n.SHA256)
		if err != nil {
			return api.Upload{}, err
		}
		if is {
			receipt, err := s.repeatedImport(ctx, known)
			return api.Upload{ConnectionID: id, Name: name, Bytes: n.Bytes, Received: n.Bytes, Import: &receipt}, err
		}
	}
	folder, err := s.ensureImportFolder(ctx, conn, found)
	if err != nil {
		return api.Upload{}, err
	}
	sweepParts(folder, time.Now())
	all := listPartialFiles(folder)
	for _, p := range all {
		if n.SHA256 != "" && p.SHA256 == n.SHA256 && p.Bytes == n.Bytes {
			return p.uploadView(id), nil
		}
	}
	if len(all) >= maxOpenUploads {
		return api.Upload{}, &api.Error{Status: http.StatusConflict, Code: api.CodeTooManyUploads,
			Message: fmt.Sprintf("%d uploads of this connection are unfinished.", len(all)),
			Next:    "Continue or remove one of them, on the connection's page of files."}
	}
	if err := checkDiskSpace(folder, n.Bytes); err != nil {
		return api.Upload{}, err
	}
	p, err := createPartialFile(folder, "upl_"+strings.ToLower(rand.Text()),
		partialFileMetadata{Name: name, Bytes: n.Bytes, SHA256: n.SHA256})
	if err != nil {
		return api.Upload{}, err
	}
	return p.uploadView(id), nil
}

// Uploads lists the unfinished uploads of a connection.
func (s *FileImports) Uploads(ctx context.Context, id string) ([]api.Upload, error) {
	out := []api.Upload{}
	conn, found, _, err := s.importConnection(ctx, id)
	if known := new(api.Error); errors.As(err, &known) &&
		(known.Code == api.CodeNoImports || known.Code == api.CodeRevoked) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	folder, err := s.ensureImportFolder(ctx, conn, found)
	if err != nil {
		return nil, err
	}
	for _, p := range listPartialFiles(folder) {
		out = append(out, p.uploadView(id))
	}
	return out, nil
}

// UploadByID returns an upload with the number of received bytes.
func (s *FileImports) UploadByID(ctx context.Context, id, upload string) (api.Upload, error) {
	p, err := s.findUpload(ctx, id, upload)
	if err != nil {
		return api.Upload{}, err
	}
	return p.uploadView(id), nil
}

// AddPiece appends a piece. The last piece completes the import.
func (s *FileImports) AddPiece(ctx context.Context, id, upload string, piece api.Piece) (api.Upload, error) {
	p, err := s.findUpload(ctx, id, upload)
	if err != nil {
		return api.Upload{}, err
	}
	sum, err := p.appendPiece(ctx, piece.Offset, piece.Content)
	if err != nil {
		return api.Upload{}, err
	}
	view := p.uploadView(id)
	if p.received < p.Bytes {
		return view, nil
	}
	got, err := p.completeFile(sum, piece.SHA256)
	if err != nil {
		return view, err
	}
	receipt, err := s.storeReceivedFile(ctx, id, p.Name, got)
	if err != nil {
		return view, err // the content is still there: an empty piece tries again
	}
	p.removeFiles()
	view.Import = &receipt
	return view, nil
}

// DropUpload removes an unfinished upload.
func (s *FileImports) DropUpload(ctx context.Context, id, upload string) error {
	p, err := s.findUpload(ctx, id, upload)
	if err != nil {
		return err
	}
	p.removeFiles()
	return nil
}

// findUpload returns an unfinished upload of a connection.
func (s *FileImports) findUpload(ctx context.Context, id, upload string) (*partialFile, error) {
	conn, found, _, err := s.importConnection(ctx, id)
	if err != nil {
		return nil, err
	}
	folder, err := s.ensureImportFolder(ctx, conn, found)
	if err != nil {
		return nil, err
	}
	err = fs.ErrNotExist
	var p *partialFile
	if uploadIDPattern.MatchString(upload) {
		p, err = openPartialFile(folder, upload)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, api.NotFound("There is no such upload. Unfinished uploads are removed after three days.",
			"Send the file again.")
	}
	if err != nil {
		return nil, folderNotWritable(err)
	}
	return p, nil
}

// uploadView returns the upload as the owner sees it.
func (p *partialFile) uploadView(id string) api.Upload {
	until := p.touched.Add(uploadRetention).UTC()
	return api.Upload{ID: p.id, ConnectionID: id, Name: p.Name, Bytes: p.Bytes, Received: p.received, KeptUntil: &until}
}

// SweepUploads removes uploads of all connections that were not continued.
func (s *FileImports) SweepUploads(ctx context.Context) error {
	all, err := s.store.ListConnections(ctx)
	if err != nil {
		return fmt.Errorf("list the connections: %w", err)
	}
	var failed error
	for _, conn := range all {
		found, err := s.find.Connectors.Find(ctx, conn.ConnectorID)
		if err != nil || conn.SourceKind == store.SourceLocalDevice {
			continue // not installed, or on another machine
		}
		dir, err := s.importFolderPath(ctx, conn, found)
		if err != nil {
			failed = errors.Join(failed, err)
		} else if dir != "" {
			sweepParts(dir, time.Now())
		}
	}
	return failed
}
