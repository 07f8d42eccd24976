package collector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/slice"
)

// filesExt is behind the name of a queue for the folder of the files that its records name. A file is
// there until the server has taken a record that names it.
const filesExt = ".files"

func (c *Collector) files() blob.FolderStorage {
	return blob.FolderStorage{Dir: c.Profile.Queue + filesExt}
}

// holdFiles counts the files of records that were queued, so that the connector waits for the line
// rather than fill the disk.
func (p *pass) holdFiles(files []slice.Blob) {
	for _, b := range files {
		p.fileMu.Lock()
		if !p.held[b.SHA256] {
			p.held[b.SHA256] = true
			p.waiting.Add(b.Bytes)
		}
		p.fileMu.Unlock()
	}
}

// dropFiles takes away what the server has by now. Another record that names it finds it there.
func (p *pass) dropFiles(ctx context.Context, files []slice.Blob) error {
	for _, b := range files {
		if err := p.c.files().Remove(ctx, b.SHA256); err != nil {
			return err
		}
		p.fileMu.Lock()
		held := p.held[b.SHA256]
		delete(p.held, b.SHA256)
		p.fileMu.Unlock()
		if held {
			p.taken(b.Bytes)
		}
	}
	return nil
}

// clearFiles takes away what runs left that did not get to queue its records. Nothing waits.
func (p *pass) clearFiles(ctx context.Context) error {
	place := p.c.files()
	return place.List(ctx, p.now().Add(24*time.Hour), func(e blob.StoredFile) error { return place.Remove(ctx, e.SHA256) })
}

// bringFiles brings the files of records to the server, each from where it got to before. What is not
// here, or what the server does not take, goes without: the server declares it as missing.
func (p *pass) bringFiles(ctx context.Context, files []slice.Blob) error {
	for _, b := range files {
		if p.brought[b.SHA256] || !p.can(wire.CanBlobs) {
			continue
		}
		if err := p.bringFile(ctx, b.SHA256); err != nil {
			return err
		}
		p.brought[b.SHA256] = true
	}
	return nil
}

func (p *pass) bringFile(ctx context.Context, hash string) error {
	source := p.c.Profile.SourceInstanceID
	at, err := p.client.Blob(ctx, source, hash)
	if err != nil || at.Whole {
		return err
	}
	f, err := p.c.files().Open(ctx, hash)
	if errors.Is(err, blob.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	piece := make([]byte, min(wire.BlobPiece, max(f.Bytes(), 1)))
	for lost := 0; !at.Whole; {
		if err := p.beatWhileWorking(ctx); err != nil {
			return err
		}
		if _, err := f.Seek(at.Received, io.SeekStart); err != nil {
			return fmt.Errorf("read a file: %w", err)
		}
		n, err := io.ReadFull(f, piece)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("read a file: %w", err)
		}
		next, err := p.client.PutBlob(ctx, source, hash, f.Bytes(), at.Received, piece[:n])
		var refusal *wire.Error
		switch {
		case err == nil:
			at = next
		case !errors.As(err, &refusal):
			return err
		case refusal.Code == wire.CodeBlobTooLarge:
			return nil
		case refusal.Code == wire.CodeBlobContent, refusal.Code == wire.CodeBlobOffset:
			if lost++; lost > 3 {
				return nil // the file here is not what it was
			}
			if at, err = p.client.Blob(ctx, source, hash); err != nil {
				return err
			}
		default:
			return err
		}
	}
	return nil
}

// dropSource deletes the queue items, the files and the gap ledger of a source that the owner deleted.
// It rewrites the queue file, so that no deleted data remains in it.
func (p *pass) dropSource(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	if err := p.box.DropSource(ctx, p.c.Profile.SourceInstanceID); err != nil {
		return err
	}
	if err := p.clearFiles(ctx); err != nil {
		return err
	}
	if err := os.Remove(p.c.Profile.Queue + ledgerExt); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("drop what is missing: %w", err)
	}
	p.report.Outbox = wire.OutboxCounts{}
	return nil
}
