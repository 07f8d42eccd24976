package browser

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/pdpp-go/pdpp/internal/collect/childprocess"
)

const (
	// maxSealed is how large a profile may be that is kept whole.
	maxSealed = 32 << 20
	// maxFile and maxFiles bound what is packed and unpacked: a browser keeps hundreds of
	// small files.
	maxFile  = 128 << 20
	maxFiles = 20_000
	// maxUnpacked bounds all of it together.
	maxUnpacked = 512 << 20
)

// Checkpoints are the files of the run's home that are kept with a profile: the session's
// cookies, and the mark of the account. They are written by the connector.
const (
	SessionFile = "session.json"
	AccountFile = "account"
)

var checkpoints = []string{SessionFile, AccountFile}

// excludedPaths are folders and files that a browser recreates, or that record its use.
var excludedPaths = []string{
	"Cache", "Code Cache", "CacheStorage", "ScriptCache", "GPUCache", "DawnCache", "DawnGraphiteCache", "DawnWebGPUCache",
	"GrShaderCache", "GraphiteDawnCache", "ShaderCache", "component_crx_cache", "extensions_crx_cache",
	"Crashpad", "Crash Reports", "BrowserMetrics", "DeferredBrowserMetrics", "BrowserMetrics-spare.pma",
	"CrashpadMetrics-active.pma", "CrashpadMetrics.pma",
	"Safe Browsing", "Safe Browsing Network", "OptimizationHints", "optimization_guide_model_store",
	"optimization_guide_hint_cache_store",
	"segmentation_platform", "Segmentation Platform", "Subresource Filter", "VideoDecodeStats",
	"Site Characteristics Database",
	"blob_storage", "DevToolsActivePort", "chrome_debug.log", "SingletonLock", "SingletonCookie", "SingletonSocket",
}

// errHostile means that a text is not what packing makes.
var errHostile = errors.New("it is not a packed profile")

var errTooLarge = errors.New("the browser profile is larger than is kept")

// bounded is a buffer that refuses to become too large.
type bounded struct {
	bytes.Buffer
	max int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.max {
		return 0, errTooLarge
	}
	return b.Buffer.Write(p)
}

// packedProfile is a profile as it is sealed.
type packedProfile struct {
	plain   []byte
	files   int
	bytes   int64 // of the files
	account string
	trimmed bool // it contains only the session
}

// packProfile makes one text of what is kept of a room. No process may use it any more. Links and
// whatever else is no plain file are not followed and not kept.
func packProfile(room string) (packedProfile, error) {
	root, err := os.OpenRoot(room)
	if err != nil {
		return packedProfile{}, fmt.Errorf("pack the browser profile: %w", err)
	}
	defer root.Close()
	whole, err := packFiles(root, maxSealed, true)
	if errors.Is(err, errTooLarge) {
		whole, err = packFiles(root, maxSealed, false)
		whole.trimmed = true
	}
	if err != nil {
		return packedProfile{}, fmt.Errorf("pack the browser profile: %w", err)
	}
	account, err := readFile(root, path.Join(homeDir, AccountFile), nil)
	if err == nil && len(account) <= maxAccount {
		whole.account = string(bytes.TrimSpace(account))
	}
	return whole, nil
}

// maxAccount bounds the mark of an account, which is a hash.
const maxAccount = 256

func packFiles(root *os.Root, max int, all bool) (packedProfile, error) {
	out := &bounded{max: max}
	zip, err := zstd.NewWriter(out, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(window))
	if err != nil {
		return packedProfile{}, err
	}
	defer zip.Close() // a second time it does nothing
	w := &profilePacker{tar: tar.NewWriter(zip), root: root}
	for _, name := range checkpoints {
		if err := w.add(path.Join(homeDir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return packedProfile{}, err
		}
	}
	if all {
		if err := fs.WalkDir(root.FS(), profileDir, w.visit); err != nil {
			return packedProfile{}, err
		}
	}
	if err := w.tar.Close(); err != nil {
		return packedProfile{}, err
	}
	if err := zip.Close(); err != nil {
		return packedProfile{}, err
	}
	return packedProfile{plain: out.Bytes(), files: w.files, bytes: w.bytes}, nil
}

type profilePacker struct {
	tar   *tar.Writer
	root  *os.Root
	bytes int64
	files int
	text  []byte // of the last file; its memory is used again
}

func (w *profilePacker) visit(name string, d fs.DirEntry, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // it is gone, or there never was one
	case err != nil:
		return err
	case slices.Contains(excludedPaths, d.Name()) && d.IsDir():
		return fs.SkipDir
	case slices.Contains(excludedPaths, d.Name()), !d.Type().IsRegular():
		return nil
	}
	return w.add(name)
}

func (w *profilePacker) add(name string) error {
	text, err := readFile(w.root, name, w.text)
	if err != nil {
		return err
	}
	w.text = text
	w.files++
	w.bytes += int64(len(text))
	if w.files > maxFiles || w.bytes > maxUnpacked {
		return errTooLarge
	}
	if err := w.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600,
		Size: int64(len(text))}); err != nil {
		return err
	}
	_, err = w.tar.Write(text)
	return err
}

// readFile reads a regular file below the root. It follows no link and never blocks. It uses the memory of into if
// that is large enough.
func readFile(root *os.Root, name string, into []byte) ([]byte, error) {
	if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fmt.Errorf("%s: %w", name, fs.ErrNotExist))
	}
	f, err := root.OpenFile(name, os.O_RDONLY|openSafely, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	if info.Size() > maxFile {
		return nil, errTooLarge
	}
	text := bytes.NewBuffer(slices.Grow(into[:0], int(info.Size())+bytes.MinRead))
	if n, err := io.Copy(text, io.LimitReader(f, maxFile+1)); err != nil || n > maxFile {
		return nil, errors.Join(err, errTooLarge)
	}
	return text.Bytes(), nil
}

// unpackProfile unpacks a profile into an empty folder that belongs to the user. It rejects everything that packing
// does not produce: special files, paths out of the folder, duplicates, and too many files.
func unpackProfile(plain []byte, room string, owner *childprocess.User) error {
	root, err := os.OpenRoot(room)
	if err != nil {
		return fmt.Errorf("unpack the browser profile: %w", err)
	}
	defer root.Close()
	zip, err := decompress(plain)
	if err != nil {
		return fmt.Errorf("%w: %w", errHostile, err)
	}
	defer zip.Close()
	u := profileUnpacker{root: root, owner: owner, made: map[string]bool{homeDir: true, profileDir: true},
		buffer: make([]byte, 256<<10)}
	text := io.LimitReader(zip, maxUnpacked+maxFiles*2<<10)
	archive := tar.NewReader(text)
	for {
		h, err := archive.Next()
		if err == io.EOF {
			_, err := io.Copy(io.Discard, text) // its sum is at the end
			return err
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errHostile, err)
		}
		if err := u.add(h, archive); err != nil {
			return fmt.Errorf("unpack the browser profile: %w", err)
		}
	}
}

// window is how far back a packed profile repeats itself.
const window = 4 << 20

// decompress reads a packed profile, whether of today or of a version that packed with gzip.
func decompress(plain []byte) (io.ReadCloser, error) {
	if bytes.HasPrefix(plain, []byte{0x1f, 0x8b}) {
		zip, err := gzip.NewReader(bytes.NewReader(plain))
		if err != nil {
			return nil, err
		}
		return damageReader{zip, zip.Close}, nil
	}
	if !bytes.HasPrefix(plain, []byte{0x28, 0xb5, 0x2f, 0xfd}) {
		return nil, errors.New("it is packed in no way that is known")
	}
	zip, err := zstd.NewReader(bytes.NewReader(plain), zstd.WithDecoderMaxWindow(window))
	if err != nil {
		return nil, err
	}
	return damageReader{zip, func() error { zip.Close(); return nil }}, nil
}

// damageReader marks every read error of a packed profile as damage.
type damageReader struct {
	io.Reader
	close func() error
}

func (d damageReader) Read(p []byte) (int, error) {
	n, err := d.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%w: %w", errHostile, err)
	}
	return n, err
}

func (d damageReader) Close() error { return d.close() }

type profileUnpacker struct {
	root   *os.Root
	owner  *childprocess.User
	made   map[string]bool // folders
	bytes  int64
	files  int
	buffer []byte
}

func (u *profileUnpacker) add(h *tar.Header, text io.Reader) error {
	u.files++
	u.bytes += h.Size
	switch {
	case h.Typeflag != tar.TypeReg, sparse(h):
		return fmt.Errorf("%w: %q is not a plain file", errHostile, h.Name)
	case !isPackedName(h.Name):
		return fmt.Errorf("%w: %q is not a place in it", errHostile, h.Name)
	case h.Size < 0 || h.Size > maxFile || u.files > maxFiles || u.bytes > maxUnpacked:
		return fmt.Errorf("%w: %w", errHostile, errTooLarge)
	}
	if err := u.folder(path.Dir(h.Name)); err != nil {
		return taken(err)
	}
	f, err := u.root.OpenFile(h.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return taken(err)
	}
	n, err := io.CopyBuffer(struct{ io.Writer }{f}, text, u.buffer)
	if err == nil && n < h.Size || errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("%w: %q is cut short", errHostile, h.Name)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return u.give(h.Name)
}

// taken reads an error about a name: one that is there twice, or below a file, was never
// packed.
func taken(err error) error {
	if errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG) {
		return fmt.Errorf("%w: %w", errHostile, err)
	}
	return err
}

// sparse reports whether a file is longer than what the archive has of it.
func sparse(h *tar.Header) bool {
	for name := range h.PAXRecords {
		if strings.HasPrefix(name, "GNU.sparse.") {
			return true
		}
	}
	return false
}

func (u *profileUnpacker) folder(name string) error {
	if u.made[name] {
		return nil
	}
	if err := u.folder(path.Dir(name)); err != nil {
		return err
	}
	if err := u.root.Mkdir(name, 0o700); err != nil {
		return err
	}
	u.made[name] = true
	return u.give(name)
}

func (u *profileUnpacker) give(name string) error {
	if u.owner == nil {
		return nil
	}
	return u.root.Lchown(name, int(u.owner.UID), int(u.owner.GID))
}

// isPackedName reports whether packing produces this name.
func isPackedName(name string) bool {
	if !filepath.IsLocal(name) || path.Clean(name) != name || strings.ContainsRune(name, 0) || len(name) > 4096 {
		return false
	}
	top, rest, _ := strings.Cut(name, "/")
	return top == profileDir && rest != "" || top == homeDir && slices.Contains(checkpoints, rest)
}
