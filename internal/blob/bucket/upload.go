package bucket

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/protocol"
)

// uploadsPrefix is where pieces of uploads are stored; no hash starts with it. Each piece is an object named by its
// offset, so that different machines can receive the pieces. Once the file is stored, an empty object proves that the
// sender had it. All of them are removed by age.
const (
	uploadsPrefix = "uploads/"
	proofName     = "kept"
)

// uploadPrefix returns the prefix of a sender's pieces.
func (b *Bucket) uploadPrefix(sender, hash string) (string, error) {
	if !protocol.IsBlobHash(hash) {
		return "", blob.ErrNotFound
	}
	who := sha256.Sum256([]byte(sender))
	return b.prefix + uploadsPrefix + hex.EncodeToString(who[:12]) + "/" + hash + "/", nil
}

// uploadPiece is a received piece.
type uploadPiece struct {
	key   string
	bytes int64
}

// listPieces returns the received pieces from the beginning without a gap, and whether the file is stored. Two
// machines that received the same piece wrote the same object.
func (b *Bucket) listPieces(ctx context.Context, at string) (all []uploadPiece, bytes int64, kept bool, err error) {
	err = b.eachObject(ctx, at, func(key string, size int64, _ time.Time) error {
		name := strings.TrimPrefix(key, at)
		if name == proofName {
			kept = true
			return nil
		}
		if from, err := strconv.ParseInt(name, 10, 64); err == nil && from == bytes {
			all, bytes = append(all, uploadPiece{key, size}), bytes+size
		}
		return nil
	})
	return all, bytes, kept, err
}

func (b *Bucket) UploadProgress(ctx context.Context, sender, hash string) (int64, bool, error) {
	at, err := b.uploadPrefix(sender, hash)
	if err != nil {
		return 0, false, err
	}
	_, bytes, kept, err := b.listPieces(ctx, at)
	if err != nil {
		return 0, false, err
	}
	if kept {
		e, err := b.Stat(ctx, hash)
		if err == nil {
			return e.Bytes, true, nil
		}
		if !errors.Is(err, blob.ErrNotFound) {
			return 0, false, err
		}
	}
	return bytes, false, nil
}

func (b *Bucket) ReceivePiece(
	ctx context.Context, sender, hash string, total, offset int64, r io.Reader,
) (int64, bool, error) {
	at, err := b.uploadPrefix(sender, hash)
	if err != nil {
		return 0, false, err
	}
	all, have, _, err := b.listPieces(ctx, at)
	if err != nil {
		return 0, false, err
	}
	if have != offset || total < offset {
		return have, false, blob.ErrWrongOffset
	}
	c, broken := b.spoolContent(ctx, io.LimitReader(r, total-offset))
	if c == nil {
		return have, false, broken
	}
	defer c.removeSpool()
	if c.bytes > 0 {
		p := uploadPiece{fmt.Sprintf("%s%019d", at, offset), c.bytes}
		// What arrived before the sender disconnected is stored although its request has ended.
		if _, err := b.putObject(context.WithoutCancel(ctx), p.key, c); err != nil {
			return have, false, errors.Join(broken, err)
		}
		all, have = append(all, p), have+c.bytes
	}
	if broken != nil || have < total {
		return have, false, broken
	}
	return have, true, b.finishUpload(ctx, at, hash, all)
}

// finishUpload stores a file with all its pieces, if it matches its hash.
func (b *Bucket) finishUpload(ctx context.Context, at, hash string, all []uploadPiece) error {
	whole := &piecesReader{b: b, ctx: ctx, rest: all}
	c, err := b.spoolContent(ctx, whole)
	if c != nil {
		defer c.removeSpool()
	}
	if err := errors.Join(err, whole.Close()); err != nil {
		return err
	}
	if c.hash == hash {
		if err := b.putIfStale(ctx, c); err != nil {
			return err
		}
		if err := b.putEmpty(ctx, at+proofName); err != nil {
			return err
		}
	}
	for _, p := range all {
		if err := b.removeKey(ctx, p.key); err != nil {
			return err
		}
	}
	if c.hash != hash {
		return blob.ErrContentMismatch
	}
	return nil
}

// putEmpty creates an empty object.
func (b *Bucket) putEmpty(ctx context.Context, key string) error {
	c, err := b.spoolContent(ctx, strings.NewReader(""))
	if c != nil {
		defer c.removeSpool()
	}
	if err != nil {
		return err
	}
	_, err = b.putObject(ctx, key, c)
	return err
}

// piecesReader reads pieces one after the other.
type piecesReader struct {
	b    *Bucket
	ctx  context.Context
	rest []uploadPiece
	now  *objectReader
}

func (j *piecesReader) Read(p []byte) (int, error) {
	for {
		if j.now == nil {
			if len(j.rest) == 0 {
				return 0, io.EOF
			}
			j.now = &objectReader{b: j.b, ctx: j.ctx, key: j.rest[0].key, size: j.rest[0].bytes}
			j.rest = j.rest[1:]
		}
		n, err := j.now.Read(p)
		if !errors.Is(err, io.EOF) {
			return n, err
		}
		if err := j.Close(); err != nil || n > 0 {
			return n, err
		}
	}
}

func (j *piecesReader) Close() error {
	if j.now == nil {
		return nil
	}
	now := j.now
	j.now = nil
	return now.Close()
}
