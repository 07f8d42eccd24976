package bucket_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/blob/blobtest"
	"github.com/pdpp-go/pdpp/internal/blob/bucket"
)

var keys = bucket.AccessKeys{ID: "harbour", Secret: "harbour-secret-0001"}

// server is an S3 server with one bucket, "life".
type server struct {
	url string
	dir string // where it stores objects as files; "" for in memory
}

// start returns a server: the one in PDPP_TEST_VERSITYGW, or one in memory.
func start(t *testing.T) server {
	t.Helper()
	program := os.Getenv("PDPP_TEST_VERSITYGW")
	if program == "" {
		backend := s3mem.New()
		if err := backend.CreateBucket("life"); err != nil {
			t.Fatal(err)
		}
		s := httptest.NewServer(gofakes3.New(backend).Server())
		t.Cleanup(s.Close)
		return server{url: s.URL}
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "life"), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	_ = l.Close()
	cmd := exec.Command(program, "--port", at, "--access", keys.ID, "--secret", keys.Secret, "--quiet", "posix",
		"--sidecar", t.TempDir(), dir)
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for deadline := time.Now().Add(time.Minute); ; {
		conn, err := net.Dial("tcp", at)
		if err == nil {
			_ = conn.Close()
			return server{url: "http://" + at, dir: filepath.Join(dir, "life")}
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func open(t *testing.T, endpoint, spool string) *bucket.Bucket {
	t.Helper()
	b, err := bucket.Open("s3://life/records/of mara?endpoint="+endpoint, keys, spool)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestBucket runs the suite and checks that nothing is left on this machine. A server that stores objects as files
// must have exactly the listed files, with the right content.
func TestBucket(t *testing.T) {
	s := start(t)
	spool := t.TempDir()
	b := open(t, s.url, spool)
	blobtest.RunSuite(t, b)
	if left, err := os.ReadDir(spool); len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if s.dir == "" {
		return
	}
	kept := map[string]bool{}
	if err := b.List(t.Context(), time.Now().Add(time.Hour),
		func(e blob.StoredFile) error { kept[e.SHA256] = true; return nil }); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		sum := sha256.Sum256(content)
		if name := filepath.Base(path); name != hex.EncodeToString(sum[:]) || !kept[name] {
			t.Errorf("%s is not listed, or holds something else", path)
		}
		delete(kept, filepath.Base(path))
		return err
	})
	if err != nil || len(kept) > 0 {
		t.Errorf("%d files are not there: %v", len(kept), err)
	}
}

// TestUploadAcrossMachines checks that two machines can receive the pieces of one file in turn.
func TestUploadAcrossMachines(t *testing.T) {
	s := start(t)
	machines := []*bucket.Bucket{open(t, s.url, t.TempDir()), open(t, s.url, t.TempDir())}
	content := bytes.Repeat([]byte("tide "), 5000)
	sum := sha256.Sum256(content)
	hash, have := hex.EncodeToString(sum[:]), int64(0)
	for n, whole := 0, false; !whole; n++ {
		var err error
		piece := content[have:min(have+7000, int64(len(content)))]
		if have, whole, err = machines[n%2].ReceivePiece(t.Context(), "laptop", hash, int64(len(content)), have,
			bytes.NewReader(piece)); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range machines {
		f, err := m.Open(t.Context(), hash)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(f)
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%d bytes: %v", len(got), err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestFaults checks that a recent file is not sent again, and that a failing server leaves nothing behind and its
// errors contain no secret.
func TestFaults(t *testing.T) {
	s := start(t)
	var puts atomic.Int64
	var fail atomic.Bool
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fail.Load() {
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `<Error><Code>AccessDenied</Code><Message>no</Message></Error>`)
			return
		}
		if r.Method == http.MethodPut {
			puts.Add(1)
		}
		pass(w, r, s.url)
	}))
	defer front.Close()
	spool := t.TempDir()
	b := open(t, front.URL, spool)
	for range 3 {
		if _, _, err := b.Put(t.Context(), strings.NewReader("the same")); err != nil {
			t.Fatal(err)
		}
	}
	if n := puts.Load(); n != 1 {
		t.Errorf("it was sent %d times", n)
	}
	fail.Store(true)
	_, _, err := b.Put(t.Context(), strings.NewReader("another"))
	if err == nil || !strings.Contains(err.Error(), "AccessDenied") || strings.Contains(err.Error(), keys.Secret) {
		t.Errorf("refused: %v", err)
	}
	if _, err := b.Stat(t.Context(), strings.Repeat("ab", 32)); err == nil || errors.Is(err, blob.ErrNotFound) {
		t.Errorf("a server that refuses has no such file: %v", err)
	}
	if left, err := os.ReadDir(spool); len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestAddresses checks that errors about an address are specific and contain no key.
func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"life": "must read s3://", "https://life": "must read s3://", "s3://": "must read s3://",
		"s3://key:secret@life":       "must read s3://",
		"s3://life?endpoint=ftp://x": "is not an address", "s3://life?endpoint=https://u:p@x": "is not an address",
		"s3://life?regoin=x": `not "regoin"`,
	} {
		if _, err := bucket.Open(address, keys, ""); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), keys.Secret) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if _, err := bucket.Open("s3://life", bucket.AccessKeys{}, ""); err == nil ||
		!strings.Contains(err.Error(), "AWS_ACCESS_KEY_ID") {
		t.Error(fmt.Errorf("without keys: %w", err))
	}
	if _, err := bucket.Open("s3://life/a/b?region=eu-north-1", keys, ""); err != nil {
		t.Error(err)
	}
}

// TestRemoveFromVersionedBucket checks that removing a file removes all its versions.
func TestRemoveFromVersionedBucket(t *testing.T) {
	backend := s3mem.New()
	if err := backend.CreateBucket("life"); err != nil {
		t.Fatal(err)
	}
	if err := backend.SetVersioningConfiguration("life",
		gofakes3.VersioningConfiguration{Status: gofakes3.VersioningEnabled}); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(s.Close)
	b := open(t, s.URL, t.TempDir())
	var hashes []string
	for _, content := range []string{"goes", "stays"} {
		hash, _, err := b.Put(t.Context(), strings.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, hash)
	}
	if err := b.Remove(t.Context(), hashes[0]); err != nil {
		t.Fatal(err)
	}
	all, err := backend.ListBucketVersions("life", nil, nil)
	if err != nil || len(all.Versions) != 1 || !strings.Contains(fmt.Sprintf("%+v", all.Versions[0]), hashes[1]) {
		t.Errorf("left are %d versions, %v", len(all.Versions), err)
	}
	if _, err := b.Stat(t.Context(), hashes[1]); err != nil {
		t.Error(err)
	}
}
