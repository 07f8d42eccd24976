package bucket

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/pdpp-go/pdpp/internal/blob"
)

func (b *Bucket) Open(ctx context.Context, sha256 string) (blob.File, error) {
	e, err := b.Stat(ctx, sha256)
	if err != nil {
		return nil, err
	}
	key, err := b.objectKey(sha256)
	if err != nil {
		return nil, err
	}
	return &objectReader{b: b, ctx: context.WithoutCancel(ctx), key: key, hash: sha256, size: e.Bytes}, nil
}

// objectReader reads an object with random access: one request serves sequential reads, and a seek starts another.
// Reading from beginning to end verifies the hash.
type objectReader struct {
	b    *Bucket
	ctx  context.Context // for its requests
	key  string
	hash string // of the whole object; "" when the caller verifies it
	size int64
	at   int64
	body io.ReadCloser // nil before the first read and after a seek
	stop context.CancelFunc
	sum  hash.Hash // of what was read from the beginning; nil after a seek
}

func (c *objectReader) Bytes() int64 { return c.size }

func (c *objectReader) Read(p []byte) (int, error) {
	if c.at >= c.size {
		return 0, io.EOF
	}
	if c.body == nil {
		if err := c.requestRest(); err != nil {
			return 0, err
		}
	}
	silent := time.AfterFunc(c.b.responseTimeout, c.stop)
	n, err := c.body.Read(p[:min(int64(len(p)), c.size-c.at)])
	silent.Stop()
	c.at += int64(n)
	if c.sum != nil {
		_, _ = c.sum.Write(p[:n])
	}
	if errors.Is(err, io.EOF) && c.at < c.size {
		err = io.ErrUnexpectedEOF
	}
	if c.at == c.size && c.sum != nil && c.hash != "" && hex.EncodeToString(c.sum.Sum(nil)) != c.hash {
		err = errors.New("the file server has other content than was stored")
	}
	return n, err
}

// requestRest requests the rest of the object.
func (c *objectReader) requestRest() error {
	ctx, stop := context.WithCancel(c.ctx)
	from := fmt.Sprintf("bytes=%d-", c.at)
	got, err := c.b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &c.b.name, Key: &c.key, Range: &from})
	if err != nil {
		stop()
		if isUnknownObject(err) {
			return blob.ErrNotFound
		}
		return plainError("read a file", err)
	}
	// A server without range support returns the whole object.
	if part := fmt.Sprintf("bytes %d-%d/%d", c.at, c.size-1, c.size); aws.ToString(got.ContentRange) != part &&
		(c.at > 0 || got.ContentRange != nil || aws.ToInt64(got.ContentLength) != c.size) {
		stop()
		return errors.Join(errors.New("the file server sent another range than requested"), got.Body.Close())
	}
	c.body, c.stop, c.sum = got.Body, stop, nil
	if c.at == 0 {
		c.sum = sha256.New()
	}
	return nil
}

func (c *objectReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += c.at
	case io.SeekEnd:
		offset += c.size
	}
	if offset < 0 {
		return 0, errors.New("seek before the beginning of a file")
	}
	if offset == c.at {
		return offset, nil
	}
	c.at = offset
	return offset, c.Close()
}

func (c *objectReader) Close() error {
	if c.body == nil {
		return nil
	}
	body := c.body
	c.body = nil
	defer c.stop()
	return body.Close()
}
