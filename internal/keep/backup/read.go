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

	"github.com/pdpp-go/pdpp/internal/keep/credential"
	"github.com/pdpp-go/pdpp/internal/ops/fault"
	"github.com/pdpp-go/pdpp/protocol"
)

// taker is given each file of an archive, after begin was given its header.
type taker interface {
	begin(Header) error
	take(h *tar.Header, content io.Reader) error
}

// readArchive goes through a whole archive, and gives its header when every file
// was what the archive says of it.
func readArchive(ctx context.Context, r io.Reader, plainIsFine bool, identities []age.Identity, to taker, tell func(int64)) (Header, error) {
	plain, err := unseal(r, plainIsFine, identities)
	if err != nil {
		return Header{}, err
	}
	h, err := readFiles(ctx, plain, to, tell)
	var own *fault.Fault
	switch {
	case err == nil, errors.As(err, &own), ctx.Err() != nil:
		return h, err
	case isContent(err):
		return h, &fault.Fault{Code: CodeDamaged, Message: "the backup is damaged or cut off", Next: "Use another copy of it. Nothing was changed.", Err: err}
	default:
		return h, err
	}
}

// contentError is a fault of the archive, not of the place that it is unpacked to.
type contentError struct{ error }

func (e contentError) Unwrap() error { return e.error }

func isContent(err error) bool {
	var c contentError
	return errors.As(err, &c)
}

func readFiles(ctx context.Context, plain io.Reader, to taker, tell func(int64)) (h Header, err error) {
	unpacked, err := gzip.NewReader(plain)
	if err != nil {
		return h, contentError{err}
	}
	bounded := &limited{r: unpacked, left: maxHeader + tarBlocks}
	files := tar.NewReader(&faulty{&watched{ctx, bounded, tell, 0}})
	first, err := files.Next()
	if err != nil {
		return h, contentError{err}
	}
	if first.Name != headerFile || decode(files, maxHeader, &h) != nil {
		return h, contentError{errors.New("there is no header")}
	}
	if h.Format > archiveFormat {
		return h, &fault.Fault{Code: CodeNewer, Message: "the backup was made by a newer PDPP (" + h.Program + ")", Next: "Upgrade this program, then restore. Nothing was changed."}
	}
	left, err := h.allowance()
	if err != nil {
		return h, contentError{err}
	}
	bounded.left += left.bytes + int64(left.files)*tarBlocks + maxSums
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
		if !known(f) {
			return h, contentError{fmt.Errorf("%q does not belong into a backup", f.Name)}
		}
		if err := left.spend(f); err != nil {
			return h, contentError{err}
		}
		sum := sha256.New()
		content := &summing{files, sum, 0}
		if err := to.take(f, content); err != nil {
			return h, err
		}
		if f.Typeflag == tar.TypeReg {
			have[f.Name] = Sum{f.Name, content.n, hex.EncodeToString(sum.Sum(nil))}
			if isBlob(f.Name) && have[f.Name].SHA256 != path.Base(f.Name) {
				return h, contentError{fmt.Errorf("%q is not what its name says", f.Name)}
			}
		}
	}
	if err := compare(files, have); err != nil {
		return h, contentError{err}
	}
	return h, drain(bounded)
}

// drain reads to the very end, where gzip and age say whether all of it was there.
func drain(r io.Reader) error {
	if _, err := io.Copy(io.Discard, r); err != nil {
		return contentError{err}
	}
	return nil
}

// compare holds the files against the sums at the end of the archive.
func compare(r io.Reader, have map[string]Sum) error {
	var want []Sum
	if err := decode(r, maxSums, &want); err != nil {
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

// known reports whether an entry is one that this package writes, at a place inside
// the home.
func known(f *tar.Header) bool {
	if !filepath.IsLocal(f.Name) || filepath.ToSlash(filepath.Clean(f.Name)) != strings.TrimSuffix(f.Name, "/") {
		return false
	}
	switch f.Typeflag {
	case tar.TypeReg:
		return f.Name == databaseFile || f.Name == credential.KeyFile || strings.HasPrefix(f.Name, connectorsDir+"/") || knownBlob(f.Name) || isImport(f.Name)
	case tar.TypeDir:
		return strings.TrimSuffix(f.Name, "/") == connectorsDir || strings.HasPrefix(f.Name, connectorsDir+"/") ||
			strings.TrimSuffix(f.Name, "/") == importsDir || isImport(f.Name) || blobFolder.MatchString(strings.TrimSuffix(f.Name, "/"))
	default:
		return false
	}
}

var blobFolder = regexp.MustCompile(`^` + blobsDir + `(/[0-9a-f]{2})?$`)

// knownBlob reports whether a name is that of a file of a record, at its place.
func knownBlob(name string) bool {
	hash := path.Base(name)
	return protocol.IsBlobHash(hash) && name == path.Join(blobsDir, hash[:2], hash)
}

func decode(r io.Reader, most int64, v any) error {
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return err
	}
	if int64(len(b)) > most {
		return errors.New("it is too large")
	}
	return json.Unmarshal(b, v)
}

// summing adds what is read through it to a sum.
type summing struct {
	r io.Reader
	h hash.Hash
	n int64
}

func (s *summing) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	s.h.Write(b[:n])
	s.n += int64(n)
	return n, err
}

// faulty marks every error but the end as one of the archive.
type faulty struct{ r io.Reader }

func (f *faulty) Read(b []byte) (int, error) {
	n, err := f.r.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = contentError{err}
	}
	return n, err
}

// onlyLook is a taker that keeps nothing.
type onlyLook struct{}

func (onlyLook) begin(Header) error { return nil }

func (onlyLook) take(_ *tar.Header, content io.Reader) error {
	_, err := io.Copy(io.Discard, content)
	return err
}
