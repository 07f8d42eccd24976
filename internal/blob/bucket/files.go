package bucket

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/blob"
)

// Files are named files below the prefix of a bucket. A name has slashes and is relative to the prefix.
type Files struct{ b *Bucket }

// OpenFiles returns the files of an address as Open reads it.
func OpenFiles(address string, keys AccessKeys, spool string) (Files, error) {
	b, err := Open(address, keys, spool)
	return Files{b}, err
}

// Local returns the folder of this machine for content in transit.
func (f Files) Local() string { return f.b.spool }

// Prefix returns what precedes every name, as programs that read buckets expect it.
func (f Files) Prefix() string { return "s3://" + f.b.name + "/" + f.b.prefix }

// Sweep removes what a killed process left on this machine. No other process may use the same spool.
func (f Files) Sweep() error { return f.b.sweepSpool(time.Now().Add(time.Hour)) }

// Create stores what write writes, as the name that it returns. The file appears whole or not at all, and no version
// of an earlier one stays.
func (f Files) Create(ctx context.Context, write func(io.Writer) (name string, err error)) error {
	name := ""
	out, in := io.Pipe()
	go func() {
		var err error
		name, err = write(in)
		in.CloseWithError(err)
	}()
	c, err := f.b.spoolContent(ctx, out)
	out.CloseWithError(errors.Join(err, io.ErrClosedPipe)) // ends a writer that is not done
	if c != nil {
		defer c.removeSpool()
	}
	if err != nil {
		return err
	}
	key := f.b.prefix + name
	version, err := f.b.putObject(ctx, key, c)
	if err != nil || version == "" {
		return err
	}
	return f.b.removeVersions(ctx, key, version)
}

// Read returns the content of a file; fs.ErrNotExist for an unknown one.
func (f Files) Read(ctx context.Context, name string) ([]byte, error) {
	key := f.b.prefix + name
	e, err := f.b.statKey(ctx, key)
	if errors.Is(err, blob.ErrNotFound) {
		return nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	r := &objectReader{b: f.b, ctx: ctx, key: key, size: e.Bytes}
	content, err := io.ReadAll(r)
	return content, errors.Join(err, r.Close())
}

// Remove removes a file with all its versions. An unknown one is no error.
func (f Files) Remove(ctx context.Context, name string) error {
	return f.b.removeKey(ctx, f.b.prefix+name)
}

// List calls use for the files directly in a folder, ordered by name.
func (f Files) List(ctx context.Context, folder string, use func(name string, bytes int64)) error {
	at := f.b.prefix + folder + "/"
	return f.b.eachObject(ctx, at, func(key string, bytes int64, _ time.Time) error {
		if base := strings.TrimPrefix(key, at); !strings.Contains(base, "/") {
			use(folder+"/"+base, bytes)
		}
		return nil
	})
}
