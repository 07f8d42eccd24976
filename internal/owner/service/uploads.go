package service

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

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/protocol"
)

// mostUploads bounds the uploads of a connection that have not come to their end.
const mostUploads = 20

// uploadID is what an upload is called, in the names of its files too.
var uploadID = regexp.MustCompile(`^upl_[a-z0-9]{26}$`)

// BeginUpload makes place for a file that comes in pieces.
func (s *Service) BeginUpload(ctx context.Context, id string, n api.NewUpload) (api.Upload, error) {
	conn, found, takes, err := s.importing(ctx, id)
	if err != nil {
		return api.Upload{}, err
	}
	name := fileName(n.Name)
	switch {
	case n.Bytes <= 0:
		return api.Upload{}, api.Invalid("bytes", "The file has no size, or is empty.", "Choose the file again.")
	case n.SHA256 != "" && !protocol.IsBlobHash(n.SHA256):
		return api.Upload{}, api.Invalid("sha256", "That is not the SHA-256 of a file.", "Give it in hexadecimal digits, or with the last piece.")
	}
	if err := accepts(found, takes, name, n.Bytes); err != nil {
		return api.Upload{}, err
	}
	if n.SHA256 != "" {
		known, is, err := s.known(ctx, id, n.SHA256)
		if err != nil {
			return api.Upload{}, err
		}
		if is {
			receipt, err := s.already(ctx, known)
			return api.Upload{ConnectionID: id, Name: name, Bytes: n.Bytes, Received: n.Bytes, Import: &receipt}, err
		}
	}
	folder, err := s.importFolder(ctx, conn, found)
	if err != nil {
		return api.Upload{}, err
	}
	sweepParts(folder, time.Now())
	all := partsIn(folder)
	for _, p := range all {
		if n.SHA256 != "" && p.SHA256 == n.SHA256 && p.Bytes == n.Bytes {
			return p.told(id), nil
		}
	}
	if len(all) >= mostUploads {
		return api.Upload{}, &api.Error{Status: http.StatusConflict, Code: api.CodeTooManyUploads, Message: fmt.Sprintf("%d files of this connection have not come to their end.", len(all)),
			Next: "Go on with one of them, or drop it, on the connection's page of files."}
	}
	if err := roomFor(folder, n.Bytes); err != nil {
		return api.Upload{}, err
	}
	p, err := newPart(folder, "upl_"+strings.ToLower(rand.Text()), about{Name: name, Bytes: n.Bytes, SHA256: n.SHA256})
	if err != nil {
		return api.Upload{}, err
	}
	return p.told(id), nil
}

// Uploads lists what has not come to its end.
func (s *Service) Uploads(ctx context.Context, id string) ([]api.Upload, error) {
	out := []api.Upload{}
	conn, found, _, err := s.importing(ctx, id)
	if known := new(api.Error); errors.As(err, &known) && (known.Code == api.CodeNoImports || known.Code == api.CodeRevoked) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	folder, err := s.importFolder(ctx, conn, found)
	if err != nil {
		return nil, err
	}
	for _, p := range partsIn(folder) {
		out = append(out, p.told(id))
	}
	return out, nil
}

// UploadByID tells how much has come.
func (s *Service) UploadByID(ctx context.Context, id, upload string) (api.Upload, error) {
	p, err := s.part(ctx, id, upload)
	if err != nil {
		return api.Upload{}, err
	}
	return p.told(id), nil
}

// AddPiece takes what follows. With the last byte the file is imported.
func (s *Service) AddPiece(ctx context.Context, id, upload string, piece api.Piece) (api.Upload, error) {
	p, err := s.part(ctx, id, upload)
	if err != nil {
		return api.Upload{}, err
	}
	sum, err := p.take(ctx, piece.Offset, piece.Content)
	if err != nil {
		return api.Upload{}, err
	}
	told := p.told(id)
	if p.received < p.Bytes {
		return told, nil
	}
	got, err := p.whole(sum, piece.SHA256)
	if err != nil {
		return told, err
	}
	receipt, err := s.imported(ctx, id, p.Name, got)
	if err != nil {
		return told, err // all of it is there still: it is tried again by a piece of nothing
	}
	p.drop()
	told.Import = &receipt
	return told, nil
}

// DropUpload takes away what has come.
func (s *Service) DropUpload(ctx context.Context, id, upload string) error {
	p, err := s.part(ctx, id, upload)
	if err != nil {
		return err
	}
	p.drop()
	return nil
}

// part finds an upload of a connection.
func (s *Service) part(ctx context.Context, id, upload string) (*part, error) {
	conn, found, _, err := s.importing(ctx, id)
	if err != nil {
		return nil, err
	}
	folder, err := s.importFolder(ctx, conn, found)
	if err != nil {
		return nil, err
	}
	err = fs.ErrNotExist
	var p *part
	if uploadID.MatchString(upload) {
		p, err = openPart(folder, upload)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, api.NotFound("There is no such upload. What nobody goes on with is kept for three days.", "Give the file again.")
	}
	if err != nil {
		return nil, unwritable(err)
	}
	return p, nil
}

// told tells an upload in the owner's words.
func (p *part) told(id string) api.Upload {
	until := p.touched.Add(uploadsKept).UTC()
	return api.Upload{ID: p.id, ConnectionID: id, Name: p.Name, Bytes: p.Bytes, Received: p.received, KeptUntil: &until}
}

// SweepUploads takes away what nobody goes on with, of every connection.
func (s *Service) SweepUploads(ctx context.Context) error {
	all, err := s.Store.ListConnections(ctx)
	if err != nil {
		return fmt.Errorf("list the connections: %w", err)
	}
	var failed error
	for _, conn := range all {
		found, err := s.find.Connectors.Find(ctx, conn.ConnectorID)
		if err != nil || conn.SourceKind == store.SourceLocalDevice {
			continue // it is not installed any more, or not here
		}
		dir, err := s.importsOf(ctx, conn, found)
		if err != nil {
			failed = errors.Join(failed, err)
		} else if dir != "" {
			sweepParts(dir, time.Now())
		}
	}
	return failed
}
