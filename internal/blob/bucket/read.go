package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"pdpp/internal/blob"
)

func (b *Bucket) Open(ctx context.Context, hash string) (blob.File, error) {
	e, err := b.Stat(ctx, hash)
	if err != nil {
		return nil, err
	}
	key, err := b.key(hash)
	if err != nil {
		return nil, err
	}
	return &content{b: b, ctx: context.WithoutCancel(ctx), key: key, size: e.Bytes}, nil
}

// content is an object that is read from anywhere: one request brings what is read in order, and
// a jump begins another.
type content struct {
	b    *Bucket
	ctx  context.Context // of its requests
	key  string
	size int64
	at   int64
	body io.ReadCloser // nil before the first read, and after a jump
}

func (c *content) Bytes() int64 { return c.size }

func (c *content) Read(p []byte) (int, error) {
	if c.at >= c.size {
		return 0, io.EOF
	}
	if c.body == nil {
		from := fmt.Sprintf("bytes=%d-", c.at)
		got, err := c.b.client.GetObject(c.ctx, &s3.GetObjectInput{Bucket: &c.b.name, Key: &c.key, Range: &from})
		if unknown(err) {
			return 0, blob.ErrNotFound
		}
		if err != nil {
			return 0, plain("read a file", err)
		}
		c.body = got.Body
	}
	n, err := c.body.Read(p)
	c.at += int64(n)
	if errors.Is(err, io.EOF) && c.at < c.size {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (c *content) Seek(offset int64, whence int) (int64, error) {
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

func (c *content) Close() error {
	if c.body == nil {
		return nil
	}
	body := c.body
	c.body = nil
	return body.Close()
}
