package export

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// ReceiptName is the file of a folder that lists what is in it.
const ReceiptName = "receipt.json"

// Receipt lists what an export wrote.
type Receipt struct {
	Format    string        `json:"format"`
	Selection RecordChoice  `json:"selection"`
	Files     []ReceiptFile `json:"files"`
}

// ReceiptFile is one file of an export, or one folder of texts.
type ReceiptFile struct {
	Path         string `json:"path"` // with slashes, from the folder
	ConnectionID string `json:"connection_id,omitempty"`
	Stream       string `json:"stream,omitempty"`
	Records      int64  `json:"records"`
	// Through is the newest change of the stream when it was written.
	Through int64  `json:"last_change_seq,omitempty"`
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"`
}

// Folder writes one file per stream into a folder. Each file appears whole; the receipt names the files that are
// there. Files of an earlier, interrupted export of the same selection are kept if their streams have not changed.
// It returns how many files were kept.
func (j Job) Folder(ctx context.Context, folder string, streams []api.Stream) (r Receipt, kept int, err error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return r, 0, &WriteError{err}
	}
	earlier, err := ReadReceipt(folder)
	if err != nil {
		return r, 0, err
	}
	r = Receipt{Format: j.Format.Name, Selection: j.Selection, Files: []ReceiptFile{}}
	same := earlier.Format == r.Format && earlier.Selection.equal(r.Selection)
	for i := range streams {
		s := &streams[i]
		path := j.pathOf(s)
		found := slices.IndexFunc(earlier.Files, func(f ReceiptFile) bool {
			return same && f.Path == path && f.ConnectionID == s.ConnectionID && f.Stream == s.Name && f.Through == s.LastSeq
		})
		if found >= 0 && intact(folder, earlier.Files[found]) {
			r.Files = append(r.Files, earlier.Files[found])
			kept++
			continue
		}
		f := ReceiptFile{Path: path, ConnectionID: s.ConnectionID, Stream: s.Name, Through: s.LastSeq}
		if err := j.writeStream(ctx, folder, s, &f); err != nil {
			return r, kept, err
		}
		r.Files = append(r.Files, f)
		if err := writeReceipt(folder, r); err != nil {
			return r, kept, err
		}
	}
	return r, kept, writeReceipt(folder, r)
}

func (j Job) pathOf(s *api.Stream) string {
	if j.Format.Name == "markdown" {
		return StreamPath(s)
	}
	return StreamPath(s) + j.Format.Suffix
}

// StreamPath returns the path of a stream: its connection, then its name. It depends on nothing else.
func StreamPath(s *api.Stream) string { return safeName(s.ConnectionID) + "/" + safeName(s.Name) }

// safeName returns a name that is valid on every system. Names that some systems would take for another get a part of
// a hash.
func safeName(name string) string {
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, name)
	if safe == name && name != "" && len(name) <= 100 {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return safe[:min(len(safe), 80)] + "-" + hex.EncodeToString(sum[:4])
}

func (j Job) writeStream(ctx context.Context, folder string, s *api.Stream, f *ReceiptFile) error {
	place := filepath.Join(folder, filepath.FromSlash(f.Path))
	if err := os.MkdirAll(filepath.Dir(place), 0o700); err != nil {
		return &WriteError{err}
	}
	if j.Format.Name == "markdown" {
		return j.writeTexts(ctx, place, s, f)
	}
	sum := &summed{hash: sha256.New()}
	var failed error
	err := CreateFile(place, func(to io.Writer) error {
		sum.to = to
		f.Records, failed = j.Write(ctx, sum, []api.Stream{*s})
		return failed
	})
	if failed != nil {
		return failed
	}
	if err != nil {
		return &WriteError{err}
	}
	f.Bytes, f.SHA256 = sum.bytes, hex.EncodeToString(sum.hash.Sum(nil))
	return nil
}

// Write writes the records of the streams as one file and returns how many there are.
func (j Job) Write(ctx context.Context, to io.Writer, streams []api.Stream) (records int64, err error) {
	w, err := j.Format.Open(to, streams)
	if err != nil {
		return 0, &WriteError{err}
	}
	for i := range streams {
		if j.Skip != nil && j.Skip(&streams[i]) {
			continue
		}
		var n int64
		if j.Within == nil {
			n, err = j.Copy(ctx, w, &streams[i])
		} else {
			n, err = j.copy(ctx, w, &streams[i], j.Within[i])
		}
		records += n
		if err != nil {
			return records, errors.Join(err, abandon(w))
		}
	}
	if err := w.Close(); err != nil {
		return records, &WriteError{err}
	}
	return records, nil
}

// abandon removes what a writer keeps beside the file.
func abandon(w Writer) error {
	switch w := w.(type) {
	case *database:
		w.remove()
	case *markdown:
		w.discard()
	}
	return nil
}

// writeTexts writes a folder of texts. The folder appears whole.
func (j Job) writeTexts(ctx context.Context, place string, s *api.Stream, f *ReceiptFile) error {
	made, err := newMarkdown(io.Discard, nil)
	if err != nil {
		return &WriteError{err}
	}
	texts := made.(*markdown)
	if f.Records, err = j.Copy(ctx, texts, s); err != nil {
		texts.discard()
		return err
	}
	part := place + ".part"
	err = os.RemoveAll(part)
	if err == nil {
		err = os.MkdirAll(part, 0o700)
	}
	if err == nil {
		err = texts.split(part)
	}
	if err == nil {
		err = os.RemoveAll(place)
	}
	if err == nil {
		err = os.Rename(part, place)
	}
	if err != nil {
		return &WriteError{err}
	}
	f.Bytes, f.SHA256, err = HashOf(place)
	return err
}

// summed counts and hashes what is written.
type summed struct {
	to    io.Writer
	hash  hash.Hash
	bytes int64
}

func (s *summed) Write(b []byte) (int, error) {
	n, err := s.to.Write(b)
	s.hash.Write(b[:n])
	s.bytes += int64(n)
	return n, err
}

// fillFile writes a private file.
func fillFile(path string, write func(io.Writer) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}

// CreateFile writes a private file that appears whole or not at all, and stays after a loss of power.
func CreateFile(path string, write func(io.Writer) error) (err error) {
	part := path + ".part"
	file, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(part)
		}
	}()
	buffered := bufio.NewWriterSize(file, 1<<16)
	if err := write(buffered); err != nil {
		return errors.Join(err, file.Close())
	}
	if err := errors.Join(buffered.Flush(), file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(part, path); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(path))
}

// SyncFolder makes the names in a folder durable, where the system can.
func SyncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	_ = folder.Sync() // some systems refuse it for folders
	return folder.Close()
}

// HashOf returns the size and the hash of a file. That of a folder covers the names and the hashes of its files.
func HashOf(path string) (bytes int64, sum string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, "", err
	}
	all := sha256.New()
	if !info.IsDir() {
		file, err := os.Open(path)
		if err != nil {
			return 0, "", err
		}
		defer file.Close()
		bytes, err = io.Copy(all, file)
		return bytes, hex.EncodeToString(all.Sum(nil)), err
	}
	err = filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		n, one, err := HashOf(name)
		bytes += n
		relative, _ := filepath.Rel(path, name)
		fmt.Fprintf(all, "%s %s\n", one, filepath.ToSlash(relative))
		return err
	})
	return bytes, hex.EncodeToString(all.Sum(nil)), err
}

func intact(folder string, f ReceiptFile) bool {
	bytes, sum, err := HashOf(filepath.Join(folder, filepath.FromSlash(f.Path)))
	return err == nil && bytes == f.Bytes && sum == f.SHA256
}

// ReadReceipt reads the receipt of a folder; the zero value when it has none.
func ReadReceipt(folder string) (r Receipt, err error) {
	body, err := os.ReadFile(filepath.Join(folder, ReceiptName))
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(body, &r)
	}
	if err != nil {
		return r, fmt.Errorf("read the receipt of an earlier export: %w", err)
	}
	return r, nil
}

func writeReceipt(folder string, r Receipt) error {
	body, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	err = CreateFile(filepath.Join(folder, ReceiptName), func(to io.Writer) error {
		_, err := to.Write(append(body, '\n'))
		return err
	})
	if err != nil {
		return &WriteError{err}
	}
	return nil
}
