package backup

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/go-json-experiment/json"
)

// Header is the first file of an archive.
type Header struct {
	Format    int       `json:"format"`
	Program   string    `json:"program_version"`
	CreatedAt time.Time `json:"created_at"`
	Schema    int64     `json:"schema_version"`
	Database  int64     `json:"database_bytes"`
	// Files and Content are the number of files that follow and their total size. No more than that is ever unpacked.
	Files   int    `json:"files"`
	Content int64  `json:"content_bytes"`
	Counts  Counts `json:"counts"`
	// Streams are the records of each stream; archives of earlier programs have none.
	Streams []StreamSum `json:"streams,omitempty"`
}

// Sum is the expected size and hash of a file in the archive.
type Sum struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// archiveWriter writes the files of an archive.
type archiveWriter struct {
	ctx  context.Context
	tar  *tar.Writer
	when time.Time
	sums []Sum
	tell func(done int64)
}

// archiveSource is where the content of an archive comes from: the database from its copy, the rest from home.
type archiveSource struct {
	home, database string
	imports        bool
}

// writeArchive writes everything to w.
func writeArchive(
	ctx context.Context, w io.Writer, c sealMethod, from archiveSource, h Header, tell func(int64),
) error {
	buffered := bufio.NewWriterSize(w, bufferSize)
	sealed, err := c.sealWriter(buffered)
	if err != nil {
		return fmt.Errorf("seal the archive: %w", err)
	}
	packed, err := gzip.NewWriterLevel(sealed, gzip.BestSpeed)
	if err != nil {
		return err
	}
	a := &archiveWriter{ctx: ctx, tar: tar.NewWriter(packed), when: h.CreatedAt, tell: tell}
	if err := a.writeAll(from, h); err != nil {
		return err
	}
	return errors.Join(a.tar.Close(), packed.Close(), sealed.Close(), buffered.Flush())
}

func (a *archiveWriter) writeAll(from archiveSource, h Header) error {
	members, err := listMembers(a.ctx, from)
	if err != nil {
		return err
	}
	for _, m := range members {
		switch {
		case isImportPath(m.name):
			h.Format = archiveFormat
		case isBlobPath(m.name):
			h.Format = max(h.Format, formatWithoutImports)
		}
		if !m.folder {
			h.Files, h.Content = h.Files+1, h.Content+m.size
		}
	}
	if err := a.writeObject(headerFile, h); err != nil {
		return err
	}
	for _, m := range members {
		if m.folder {
			err = a.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: m.name, Mode: 0o700, ModTime: a.when})
		} else {
			err = a.writeFile(m)
		}
		if err != nil {
			return err
		}
	}
	return a.writeObject(sumsFile, a.sums)
}

func (a *archiveWriter) writeFile(m archiveMember) error {
	f, err := os.Open(m.path)
	if err != nil {
		return fmt.Errorf("read a file of the home: %w", err)
	}
	defer f.Close()
	if err := a.tar.WriteHeader(a.tarHeader(m)); err != nil {
		return err
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(a.tar, sum), &progressReader{a.ctx, io.LimitReader(f, m.size), a.tell, 0})
	if err == nil && n < m.size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("write %s to the archive: %w", m.name, err)
	}
	a.sums = append(a.sums, Sum{m.name, n, hex.EncodeToString(sum.Sum(nil))})
	return nil
}

// tarHeader describes a file. It contains the exact time of change only for imported files, because their readers
// identify them by it.
func (a *archiveWriter) tarHeader(m archiveMember) *tar.Header {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: m.name, Size: m.size, Mode: int64(m.mode), ModTime: a.when}
	if !m.changed.IsZero() {
		h.ModTime, h.Format = m.changed, tar.FormatPAX
	}
	return h
}

func (a *archiveWriter) writeObject(name string, v any) error {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return err
	}
	err = a.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(b)), Mode: 0o600,
		ModTime: a.when})
	if err == nil {
		_, err = a.tar.Write(b)
	}
	return err
}

// progressReader stops with its context and reports its progress.
type progressReader struct {
	ctx  context.Context
	r    io.Reader
	tell func(done int64)
	done int64
}

func (w *progressReader) Read(b []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := w.r.Read(b)
	w.done += int64(n)
	if n > 0 && w.tell != nil {
		w.tell(w.done)
	}
	return n, err
}
