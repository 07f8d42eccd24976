package service

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/ownertest"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// A deleted connection is gone from every list, with its files, pictures and imports; until then it can be undone.
func TestDelete(t *testing.T) {
	t.Parallel()
	place := blob.FolderStorage{Dir: filepath.Join(t.TempDir(), "blobs")}
	var pictures []string
	b, id := newAlbumHarness(t, func(c *Config) {
		c.Files, c.ForgetPicture = place, func(sha256 string) error { pictures = append(pictures, sha256); return nil }
	})
	ctx := b.ctx()
	b.importTextFile(id, "one.txt", "a,b")
	b.readFiles(id)
	hash, size, err := place.Put(ctx, strings.NewReader("a picture"))
	b.requireNoError(err)
	lease := b.begin(id, "run_pictures")
	_, err = b.Store.CommitSlice(ctx, lease,
		slice.Slice{Records: []slice.Record{{Stream: "beds", Key: "pictured", Data: []byte(`{"id":"pictured"}`),
			EmittedAt: "2026-01-01T00:00:00Z",
			Blobs:     []slice.Blob{{Field: "id", SHA256: hash, Bytes: size}}}},
			Present: func(context.Context, []string) ([]string, error) { return nil, nil }}, b.at)
	b.requireNoError(err)
	b.requireNoError(b.Store.FinishRun(ctx, lease, store.RunOutcome{Status: store.RunSucceeded}, b.at))

	preview, err := b.PreviewDeletion(ctx, api.DeletionRequest{Scope: "connection", ConnectionID: id})
	b.requireNoError(err)
	if preview.Records == 0 || preview.Files != 1 || preview.FileBytes != size || preview.State != "preview" {
		t.Errorf("preview %+v", preview)
	}
	d, err := b.Delete(ctx, api.DeletionRequest{Scope: "connection", ConnectionID: id})
	b.requireNoError(err)
	if d.State != "hidden" || d.Records != preview.Records || !d.Undoable {
		t.Errorf("deleted %+v", d)
	}
	ended, err := b.EndedConnections(ctx)
	b.requireNoError(err)
	if len(ended) != 1 || ended[0].ConnectionID != id || ended[0].Records != 0 || ended[0].Deletion == nil ||
		ended[0].Deletion.ID != d.ID {
		t.Errorf("ended %+v", ended)
	}
	if got, err := b.Connection(ctx, id); err != nil || got.Status != string(store.ConnectionRevoked) {
		t.Errorf("the connection is %s, %v", got.Status, err)
	}
	d, err = b.UndoDeletion(ctx, d.ID)
	b.requireNoError(err)
	if ended, err = b.EndedConnections(ctx); err != nil || d.State != "undone" || ended[0].Records != preview.Records ||
		ended[0].Deletion != nil {
		t.Errorf("undone %+v, ended %+v, %v", d, ended, err)
	}
	if _, err := place.Stat(ctx, hash); err != nil || len(b.importedFiles(id)) != 1 {
		t.Errorf("after an undo the file is %v, and the imports are %v", err, b.importedFiles(id))
	}

	d, err = b.Delete(ctx, api.DeletionRequest{Scope: "connection", ConnectionID: id})
	b.requireNoError(err)
	b.at = b.at.Add(deletionUndoPeriod + time.Minute)
	ownertest.WantError(t, second(b.UndoDeletion(ctx, d.ID)), api.CodeTooLate, "")
	for idle := false; !idle; {
		idle, err = b.WorkOnDeletions(ctx)
		b.requireNoError(err)
	}
	d, err = b.DeletionByID(ctx, d.ID)
	b.requireNoError(err)
	if d.State != "purged" || d.Purged != preview.Records {
		t.Errorf("purged %+v", d)
	}
	if _, err := place.Stat(ctx, hash); err == nil || len(pictures) != 1 || pictures[0] != hash {
		t.Errorf("the file is there: %t, pictures that went: %v", err == nil, pictures)
	}
	if left := b.importedFiles(id); len(left) != 0 {
		t.Errorf("imported files that are left: %v", left)
	}
	for _, c := range []struct {
		wanted api.DeletionRequest
		param  string
	}{
		{api.DeletionRequest{Scope: "half"}, "scope"}, {api.DeletionRequest{Scope: "connection"}, "connection_id"},
		{api.DeletionRequest{Scope: "everything", Key: "k"}, "key"},
		{api.DeletionRequest{Scope: "range"}, "since"}, {api.DeletionRequest{Scope: "range", Since: "soon"}, "since"},
		{api.DeletionRequest{Scope: "range", Since: "2026-02-01", Until: "2026-01-01"}, "until"},
		{api.DeletionRequest{Scope: "range", Since: "2026-02-01", Stream: "notes"}, "connection_id"},
	} {
		ownertest.WantError(t, second(b.Delete(ctx, c.wanted)), api.CodeInvalid, c.param)
	}
	ownertest.WantError(t, second(b.Delete(ctx, api.DeletionRequest{Scope: "record", ConnectionID: id, Stream: "beds",
		Key: "none"})), api.CodeNotFound, "")
}

func second[T any](_ T, err error) error { return err }

// A file that is deleted for good while it is read comes to no end: its reader gets an error and none of the later
// pieces.
func TestFileDeletedWhileRead(t *testing.T) {
	t.Parallel()
	place := blob.FolderStorage{Dir: filepath.Join(t.TempDir(), "blobs")}
	b, id := newAlbumHarness(t, func(c *Config) {
		c.Files, c.ForgetPicture = place, func(string) error { return nil }
	})
	ctx := b.ctx()
	hash, size, err := place.Put(ctx, strings.NewReader(strings.Repeat("a long film ", 1<<18)))
	b.requireNoError(err)
	lease := b.begin(id, "run_film")
	_, err = b.Store.CommitSlice(ctx, lease,
		slice.Slice{Records: []slice.Record{{Stream: "beds", Key: "film", Data: []byte(`{"id":"film"}`),
			EmittedAt: "2026-01-01T00:00:00Z",
			Blobs:     []slice.Blob{{Field: "id", SHA256: hash, Bytes: size}}}},
			Present: func(context.Context, []string) ([]string, error) { return nil, nil }}, b.at)
	b.requireNoError(err)
	b.requireNoError(b.Store.FinishRun(ctx, lease, store.RunOutcome{Status: store.RunSucceeded}, b.at))
	got, deleted := 0, false
	err = b.CopyFile(ctx, writerFunc(func(p []byte) (int, error) {
		if !deleted {
			deleted = true
			d, err := b.Delete(ctx, api.DeletionRequest{Scope: "record", ConnectionID: id, Stream: "beds", Key: "film",
				Now: true})
			if err != nil || d.State != "purged" {
				t.Errorf("deleted as %+v, %v", d, err)
			}
		}
		got += len(p)
		return len(p), nil
	}), hash)
	ownertest.WantError(t, err, api.CodeNotFound, "")
	if int64(got) == size {
		t.Error("the whole file was handed out")
	}
}

type writerFunc func(p []byte) (int, error)

func (w writerFunc) Write(p []byte) (int, error) { return w(p) }
