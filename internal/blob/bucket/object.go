package bucket

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/protocol"
)

func (b *Bucket) key(hash string) (string, error) {
	if !protocol.IsBlobHash(hash) {
		return "", blob.ErrNotFound
	}
	return b.prefix + hash[:2] + "/" + hash, nil
}

func (b *Bucket) Put(ctx context.Context, r io.Reader) (string, int64, error) {
	content, err := b.collect(ctx, r)
	if content != nil {
		defer content.drop()
	}
	if err != nil {
		return "", 0, err
	}
	return content.hash, content.bytes, b.keep(ctx, content)
}

// keep sends content to its name, unless it is there and young.
func (b *Bucket) keep(ctx context.Context, c *spooled) error {
	if e, err := b.Stat(ctx, c.hash); err == nil && e.Bytes == c.bytes && b.isFresh(e.At) {
		return nil
	}
	key, err := b.key(c.hash)
	if err != nil {
		return err
	}
	return b.send(ctx, key, c)
}

// send makes an object of what was spooled.
func (b *Bucket) send(ctx context.Context, key string, c *spooled) error {
	if _, err := c.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read a file: %w", err)
	}
	_, err := b.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &b.name, Key: &key, Body: c.file, ContentLength: &c.bytes, ChecksumSHA256: aws.String(base64.StdEncoding.EncodeToString(c.sum)),
	})
	if err != nil {
		return plain("keep a file", err)
	}
	return nil
}

// spooled is content on its way through this machine.
type spooled struct {
	file  *os.File
	sum   []byte // SHA-256
	hash  string // the same in words
	bytes int64
}

func (c *spooled) drop() {
	_ = c.file.Close()
	_ = os.Remove(c.file.Name())
}

// collect writes what r gives to this machine's disk: a server wants to know beforehand how much
// comes, and what it is. An error of r comes with what was read before it.
func (b *Bucket) collect(ctx context.Context, r io.Reader) (*spooled, error) {
	if err := os.MkdirAll(b.spool, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of files: %w", err)
	}
	file, err := os.CreateTemp(b.spool, spoolName)
	if err != nil {
		return nil, fmt.Errorf("begin a file: %w", err)
	}
	c := &spooled{file: file}
	sum := sha256.New()
	c.bytes, err = io.Copy(io.MultiWriter(file, sum), readerWith{ctx, r})
	c.sum = sum.Sum(nil)
	c.hash = hex.EncodeToString(c.sum)
	if err != nil {
		return c, fmt.Errorf("copy a file: %w", err)
	}
	return c, nil
}

const spoolName = "put-"

func (b *Bucket) Stat(ctx context.Context, hash string) (blob.Entry, error) {
	key, err := b.key(hash)
	if err != nil {
		return blob.Entry{}, err
	}
	head, err := b.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &b.name, Key: &key})
	if unknown(err) {
		return blob.Entry{}, blob.ErrNotFound
	}
	if err != nil {
		return blob.Entry{}, plain("look for a file", err)
	}
	return blob.Entry{SHA256: hash, Bytes: aws.ToInt64(head.ContentLength), At: aws.ToTime(head.LastModified)}, nil
}

// Remove removes a file, and in a bucket that keeps versions all of its versions.
func (b *Bucket) Remove(ctx context.Context, hash string) error {
	key, err := b.key(hash)
	if err != nil {
		return err
	}
	return b.removeKey(ctx, key)
}

func (b *Bucket) removeKey(ctx context.Context, key string) error {
	done, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: &key})
	if unknown(err) {
		return nil
	}
	if err != nil {
		return plain("remove a file", err)
	}
	if !aws.ToBool(done.DeleteMarker) {
		return nil
	}
	return b.removeVersions(ctx, key)
}

// removeVersions removes what a bucket that keeps versions has under a key, the mark of its deletion included.
func (b *Bucket) removeVersions(ctx context.Context, key string) error {
	pages := s3.NewListObjectVersionsPaginator(b.client, &s3.ListObjectVersionsInput{Bucket: &b.name, Prefix: &key})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return plain("list the versions of a file", err)
		}
		var versions []*string
		for _, v := range page.Versions {
			if aws.ToString(v.Key) == key {
				versions = append(versions, v.VersionId)
			}
		}
		for _, m := range page.DeleteMarkers {
			if aws.ToString(m.Key) == key {
				versions = append(versions, m.VersionId)
			}
		}
		for _, id := range versions {
			_, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: &key, VersionId: id})
			if err != nil && !unknown(err) {
				return plain("remove a version of a file", err)
			}
		}
	}
	return nil
}

func (b *Bucket) List(ctx context.Context, before time.Time, use func(blob.Entry) error) error {
	err := b.each(ctx, b.prefix, func(key string, bytes int64, at time.Time) error {
		name := strings.TrimPrefix(key, b.prefix)
		if strings.HasPrefix(name, uploads) {
			if at.Before(before) {
				return b.removeKey(ctx, key)
			}
			return nil
		}
		hash := path.Base(name)
		if own, err := b.key(hash); err != nil || own != key {
			return nil // not ours
		}
		return use(blob.Entry{SHA256: hash, Bytes: bytes, At: at})
	})
	if err != nil {
		return err
	}
	return b.sweepSpool(before)
}

// each hands over the objects whose names begin so, in the order of their names.
func (b *Bucket) each(ctx context.Context, prefix string, use func(key string, bytes int64, at time.Time) error) error {
	pages := s3.NewListObjectsV2Paginator(b.client, &s3.ListObjectsV2Input{Bucket: &b.name, Prefix: &prefix})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return plain("list the files", err)
		}
		for _, o := range page.Contents {
			if !strings.HasPrefix(aws.ToString(o.Key), prefix) {
				continue // the server was not asked for it, and it is not ours
			}
			if err := use(aws.ToString(o.Key), aws.ToInt64(o.Size), aws.ToTime(o.LastModified)); err != nil {
				return err
			}
		}
	}
	return nil
}

// sweepSpool takes away what an end without warning left on this machine.
func (b *Bucket) sweepSpool(before time.Time) error {
	left, err := filepath.Glob(filepath.Join(b.spool, spoolName+"*"))
	if err != nil {
		return fmt.Errorf("list what was left: %w", err)
	}
	for _, name := range left {
		info, err := os.Lstat(name)
		if err == nil && info.ModTime().Before(before) {
			err = os.Remove(name)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove what was left: %w", err)
		}
	}
	return nil
}

// readerWith ends with its context.
type readerWith struct {
	ctx context.Context
	r   io.Reader
}

func (r readerWith) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
