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

func (b *Bucket) objectKey(hash string) (string, error) {
	if !protocol.IsBlobHash(hash) {
		return "", blob.ErrNotFound
	}
	return b.prefix + hash[:2] + "/" + hash, nil
}

func (b *Bucket) Put(ctx context.Context, r io.Reader) (string, int64, error) {
	content, err := b.spoolContent(ctx, r)
	if content != nil {
		defer content.removeSpool()
	}
	if err != nil {
		return "", 0, err
	}
	return content.hash, content.bytes, b.putIfStale(ctx, content)
}

// putIfStale uploads content, unless a recent object exists.
func (b *Bucket) putIfStale(ctx context.Context, c *spooledContent) error {
	if e, err := b.Stat(ctx, c.hash); err == nil && e.Bytes == c.bytes && b.isFresh(e.At) {
		return nil
	}
	key, err := b.objectKey(c.hash)
	if err != nil {
		return err
	}
	_, err = b.putObject(ctx, key, c)
	return err
}

// putObject uploads spooled content as an object. It returns the version, if the bucket keeps them.
func (b *Bucket) putObject(ctx context.Context, key string, c *spooledContent) (version string, err error) {
	if _, err := c.file.Seek(0, io.SeekStart); err != nil {
		return "", fmt.Errorf("read a file: %w", err)
	}
	done, err := b.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &b.name, Key: &key, Body: c.file, ContentLength: &c.bytes,
		ChecksumSHA256: aws.String(base64.StdEncoding.EncodeToString(c.sum)),
	})
	if err != nil {
		return "", plainError("keep a file", err)
	}
	return aws.ToString(done.VersionId), nil
}

// spooledContent is content in transit on this machine.
type spooledContent struct {
	file  *os.File
	sum   []byte // SHA-256
	hash  string // sum in hexadecimal
	bytes int64
}

func (c *spooledContent) removeSpool() {
	_ = c.file.Close()
	_ = os.Remove(c.file.Name())
}

// spoolContent writes the content of r to a local file, because a server needs its size and hash in advance. After an
// error of r it returns what was read before.
func (b *Bucket) spoolContent(ctx context.Context, r io.Reader) (*spooledContent, error) {
	if err := os.MkdirAll(b.spool, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of files: %w", err)
	}
	file, err := os.CreateTemp(b.spool, spoolName)
	if err != nil {
		return nil, fmt.Errorf("begin a file: %w", err)
	}
	c := &spooledContent{file: file}
	sum := sha256.New()
	c.bytes, err = io.Copy(io.MultiWriter(file, sum), blob.NewContextReader(ctx, r))
	c.sum = sum.Sum(nil)
	c.hash = hex.EncodeToString(c.sum)
	if err != nil {
		return c, fmt.Errorf("copy a file: %w", err)
	}
	return c, nil
}

const spoolName = "put-"

func (b *Bucket) Stat(ctx context.Context, hash string) (blob.StoredFile, error) {
	key, err := b.objectKey(hash)
	if err != nil {
		return blob.StoredFile{}, err
	}
	e, err := b.statKey(ctx, key)
	e.SHA256 = hash
	return e, err
}

func (b *Bucket) statKey(ctx context.Context, key string) (blob.StoredFile, error) {
	head, err := b.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &b.name, Key: &key})
	if isUnknownObject(err) {
		return blob.StoredFile{}, blob.ErrNotFound
	}
	if err != nil {
		return blob.StoredFile{}, plainError("look for a file", err)
	}
	return blob.StoredFile{Bytes: aws.ToInt64(head.ContentLength), At: aws.ToTime(head.LastModified)}, nil
}

// Remove removes a file, with all versions in a bucket that keeps them.
func (b *Bucket) Remove(ctx context.Context, hash string) error {
	key, err := b.objectKey(hash)
	if err != nil {
		return err
	}
	return b.removeKey(ctx, key)
}

func (b *Bucket) removeKey(ctx context.Context, key string) error {
	done, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: &key})
	if isUnknownObject(err) {
		return nil
	}
	if err != nil {
		return plainError("remove a file", err)
	}
	if !aws.ToBool(done.DeleteMarker) {
		return nil
	}
	return b.removeVersions(ctx, key, "")
}

// removeVersions removes all versions of a key but one, including delete markers.
func (b *Bucket) removeVersions(ctx context.Context, key, kept string) error {
	pages := s3.NewListObjectVersionsPaginator(b.client, &s3.ListObjectVersionsInput{Bucket: &b.name, Prefix: &key})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return plainError("list the versions of a file", err)
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
			if kept != "" && aws.ToString(id) == kept {
				continue
			}
			_, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: &key, VersionId: id})
			if err != nil && !isUnknownObject(err) {
				return plainError("remove a version of a file", err)
			}
		}
	}
	return nil
}

func (b *Bucket) List(ctx context.Context, before time.Time, use func(blob.StoredFile) error) error {
	err := b.eachObject(ctx, b.prefix, func(key string, bytes int64, at time.Time) error {
		name := strings.TrimPrefix(key, b.prefix)
		if strings.HasPrefix(name, uploadsPrefix) {
			if at.Before(before) {
				return b.removeKey(ctx, key)
			}
			return nil
		}
		hash := path.Base(name)
		if own, err := b.objectKey(hash); err != nil || own != key {
			return nil // not one of our objects
		}
		return use(blob.StoredFile{SHA256: hash, Bytes: bytes, At: at})
	})
	if err != nil {
		return err
	}
	return b.sweepSpool(before)
}

// eachObject calls use for the objects with a prefix, ordered by name.
func (b *Bucket) eachObject(
	ctx context.Context, prefix string, use func(key string, bytes int64, at time.Time) error,
) error {
	pages := s3.NewListObjectsV2Paginator(b.client, &s3.ListObjectsV2Input{Bucket: &b.name, Prefix: &prefix})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return plainError("list the files", err)
		}
		for _, o := range page.Contents {
			if !strings.HasPrefix(aws.ToString(o.Key), prefix) {
				continue // outside the requested prefix
			}
			if err := use(aws.ToString(o.Key), aws.ToInt64(o.Size), aws.ToTime(o.LastModified)); err != nil {
				return err
			}
		}
	}
	return nil
}

// sweepSpool removes what a killed process left on this machine.
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
