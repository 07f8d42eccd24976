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

// uploads is where the pieces of senders' files wait, a name that no hash begins with. Each piece
// is an object that is named by where it begins, so that a sender may meet another machine with
// every piece. Once the file is kept, an empty object stays as the proof that the sender had it.
// All of them go by age.
const (
	uploads = "uploads/"
	proof   = "kept"
)

// upload is the beginning of the names of a sender's pieces.
func (b *Bucket) upload(sender, hash string) (string, error) {
	if !protocol.IsBlobHash(hash) {
		return "", blob.ErrNotFound
	}
	who := sha256.Sum256([]byte(sender))
	return b.prefix + uploads + hex.EncodeToString(who[:12]) + "/" + hash + "/", nil
}

// piece is one that has come.
type piece struct {
	key   string
	bytes int64
}

// pieces are those that have come, from the beginning on without a hole, and whether the sender's
// file is kept. Two machines that took the same piece wrote the same object.
func (b *Bucket) pieces(ctx context.Context, at string) (all []piece, bytes int64, kept bool, err error) {
	err = b.each(ctx, at, func(key string, size int64, _ time.Time) error {
		name := strings.TrimPrefix(key, at)
		if name == proof {
			kept = true
			return nil
		}
		if from, err := strconv.ParseInt(name, 10, 64); err == nil && from == bytes {
			all, bytes = append(all, piece{key, size}), bytes+size
		}
		return nil
	})
	return all, bytes, kept, err
}

func (b *Bucket) Received(ctx context.Context, sender, hash string) (int64, bool, error) {
	at, err := b.upload(sender, hash)
	if err != nil {
		return 0, false, err
	}
	_, bytes, kept, err := b.pieces(ctx, at)
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

func (b *Bucket) Receive(ctx context.Context, sender, hash string, total, offset int64, r io.Reader) (int64, bool, error) {
	at, err := b.upload(sender, hash)
	if err != nil {
		return 0, false, err
	}
	all, have, _, err := b.pieces(ctx, at)
	if err != nil {
		return 0, false, err
	}
	if have != offset || total < offset {
		return have, false, blob.ErrOffset
	}
	c, broken := b.collect(ctx, io.LimitReader(r, total-offset))
	if c == nil {
		return have, false, broken
	}
	defer c.drop()
	if c.bytes > 0 {
		p := piece{fmt.Sprintf("%s%019d", at, offset), c.bytes}
		// What came before the sender broke off is kept although its request is over.
		if err := b.send(context.WithoutCancel(ctx), p.key, c); err != nil {
			return have, false, errors.Join(broken, err)
		}
		all, have = append(all, p), have+c.bytes
	}
	if broken != nil || have < total {
		return have, false, broken
	}
	return have, true, b.settle(ctx, at, hash, all)
}

// settle keeps a file whose pieces have all come, if it is what it was said to be.
func (b *Bucket) settle(ctx context.Context, at, hash string, all []piece) error {
	whole := &joined{b: b, ctx: ctx, rest: all}
	c, err := b.collect(ctx, whole)
	if c != nil {
		defer c.drop()
	}
	if err := errors.Join(err, whole.Close()); err != nil {
		return err
	}
	if c.hash == hash {
		if err := b.keep(ctx, c); err != nil {
			return err
		}
		if err := b.note(ctx, at+proof); err != nil {
			return err
		}
	}
	for _, p := range all {
		if err := b.removeKey(ctx, p.key); err != nil {
			return err
		}
	}
	if c.hash != hash {
		return blob.ErrContent
	}
	return nil
}

// note makes an empty object.
func (b *Bucket) note(ctx context.Context, key string) error {
	c, err := b.collect(ctx, strings.NewReader(""))
	if c != nil {
		defer c.drop()
	}
	if err != nil {
		return err
	}
	return b.send(ctx, key, c)
}

// joined reads pieces one after the other.
type joined struct {
	b    *Bucket
	ctx  context.Context
	rest []piece
	now  *content
}

func (j *joined) Read(p []byte) (int, error) {
	for {
		if j.now == nil {
			if len(j.rest) == 0 {
				return 0, io.EOF
			}
			j.now = &content{b: j.b, ctx: j.ctx, key: j.rest[0].key, size: j.rest[0].bytes}
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

func (j *joined) Close() error {
	if j.now == nil {
		return nil
	}
	now := j.now
	j.now = nil
	return now.Close()
}
