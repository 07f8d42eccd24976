package backup

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"filippo.io/age"
	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/protocol"
)

// entryReceiver receives each file of an archive, after begin received its header.
type entryReceiver interface {
	begin(Header) error
	take(h *tar.Header, content io.Reader) error
}

// readArchive reads a whole archive and returns its header when every file matches its sum.
func readArchive(
	ctx context.Context, r io.Reader, plainIsFine bool, identities []age.Identity, to entryReceiver, tell func(int64),
) (Header, error) {
	plain, err := unseal(r, plainIsFine, identities)
	if err != nil {
		return Header{}, err
	}
	h, err := readFiles(ctx, plain, to, tell)
	var own *usererr.Error
	switch {
	case err == nil, errors.As(err, &own), ctx.Err() != nil:
		return h, err
	case isContentError(err):
		return h, &usererr.Error{Code: CodeDamaged, Message: "the backup is damaged or cut off",
			Next: "Use another copy of it. Nothing was changed.", Err: err}
	default:
		return h, err
	}
}

// contentError is an error of the archive, not of the place that it is unpacked to.
type contentError struct{ error }

func (e contentError) Unwrap() error { return e.error }

func isContentError(err error) bool {
	var c contentError
	return errors.As(err, &c)
}

func readFiles(ctx context.Context, plain io.Reader, to entryReceiver, tell func(int64)) (h Header, err error) {
	unpacked, err := gzip.NewReader(plain)
	if err != nil {
		return h, contentError{err}
	}
	bounded := &limitedReader{r: unpacked, left: maxHeaderSize + maxTarOverhead}
	files := tar.NewReader(&contentErrorReader{&progressReader{ctx, bounded, tell, 0}})
	first, err := files.Next()
	if err != nil {
		return h, contentError{err}
	}
	if first.Name != headerFile || decodeStrict(files, maxHeaderSize, &h) != nil {
		return h, contentError{errors.New("there is no header")}
	}
	if h.Format > archiveFormat {
		return h, &usererr.Error{Code: CodeNewer, Message: "the backup was made by a newer PDPP (" + h.Program + ")",
			Next: "Upgrade this program, then restore. Nothing was changed."}
	}
	left, err := h.unpackBudget()
	if err != nil {
		return h, contentError{err}
	}
	bounded.left += left.bytes + int64(left.files)*maxTarOverhead + maxSumsSize
	if err := to.begin(h); err != nil {
		return h, err
	}
	have := map[string]Sum{}
	for {
		f, err := files.Next()
		if err != nil {
			return h, contentError{fmt.Errorf("there are no sums: %w", err)}
		}
		if f.Name == sumsFile {
			break
		}
		if !isKnownEntry(f) {
			return h, contentError{fmt.Errorf("%q does not belong into a backup", f.Name)}
		}
		if err := left.spendEntry(f); err != nil {
			return h, contentError{err}
		}
		sum := sha256.New()
		content := &sumReader{files, sum, 0}
		if err := to.take(f, content); err != nil {
			return h, err
		}
		if f.Typeflag == tar.TypeReg {
			have[f.Name] = Sum{f.Name, content.n, hex.EncodeToString(sum.Sum(nil))}
			if isBlobPath(f.Name) && have[f.Name].SHA256 != path.Base(f.Name) {
				return h, contentError{fmt.Errorf("%q is not what its name says", f.Name)}
			}
		}
	}
	if err := compareSums(files, have); err != nil {
		return h, contentError{err}
	}
	return h, readToEnd(bounded)
}

// readToEnd reads to the end, where gzip and age detect truncation.
func readToEnd(r io.Reader) error {
	if _, err := io.Copy(io.Discard, r); err != nil {
		return contentError{err}
	}
	return nil
}

// compareSums compares the files with the sums at the end of the archive.
func compareSums(r io.Reader, have map[string]Sum) error {
	var want []Sum
	if err := decodeStrict(r, maxSumsSize, &want); err != nil {
		return err
	}
	if len(want) != len(have) {
		return fmt.Errorf("%d files instead of %d", len(have), len(want))
	}
	for _, s := range want {
		if have[s.Name] != s {
			return fmt.Errorf("%q is not what it was", s.Name)
		}
	}
	if _, ok := have[databaseFile]; !ok {
		return errors.New("there is no database")
	}
	return nil
}

// isKnownEntry reports whether this package writes such an entry, at a place inside the home.
func isKnownEntry(f *tar.Header) bool {
	if !filepath.IsLocal(f.Name) || filepath.ToSlash(filepath.Clean(f.Name)) != strings.TrimSuffix(f.Name, "/") {
		return false
	}
	switch f.Typeflag {
	case tar.TypeReg:
		return f.Name == databaseFile || f.Name == credential.KeyFile || strings.HasPrefix(f.Name, connectorsDir+"/") ||
			isKnownBlob(f.Name) || isImportPath(f.Name)
	case tar.TypeDir:
		return strings.TrimSuffix(f.Name, "/") == connectorsDir || strings.HasPrefix(f.Name, connectorsDir+"/") ||
			strings.TrimSuffix(f.Name, "/") == importsDir || isImportPath(f.Name) ||
			blobFolder.MatchString(strings.TrimSuffix(f.Name, "/"))
	default:
		return false
	}
}

var blobFolder = regexp.MustCompile(`^` + blobsDir + `(/[0-9a-f]{2})?$`)

// isKnownBlob reports whether a name is the path of a record's file.
func isKnownBlob(name string) bool {
	hash := path.Base(name)
	return protocol.IsBlobHash(hash) && name == path.Join(blobsDir, hash[:2], hash)
}

func decodeStrict(r io.Reader, most int64, v any) error {
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return err
	}
	if int64(len(b)) > most {
		return errors.New("it is too large")
	}
	return json.Unmarshal(b, v)
}

// sumReader adds what is read through it to a sum.
type sumReader struct {
	r io.Reader
	h hash.Hash
	n int64
}

func (s *sumReader) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	s.h.Write(b[:n])
	s.n += int64(n)
	return n, err
}

// contentErrorReader marks every error except EOF as one of the archive.
type contentErrorReader struct{ r io.Reader }

func (f *contentErrorReader) Read(b []byte) (int, error) {
	n, err := f.r.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = contentError{err}
	}
	return n, err
}

// discardReceiver discards everything.
type discardReceiver struct{}

func (discardReceiver) begin(Header) error { return nil }

func (discardReceiver) take(_ *tar.Header, content io.Reader) error {
	_, err := io.Copy(io.Discard, content)
	return err
}
