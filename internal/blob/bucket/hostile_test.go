package bucket_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/blob/bucket"
)

// TestHostileServer uses servers that return other content than was stored. Reading must end with an error and never
// return other content, nothing is stored under a wrong hash, and neither keys nor content go to another host.
func TestHostileServer(t *testing.T) {
	t.Parallel()
	content := bytes.Repeat([]byte("tide "), 4000)
	sum := sha256.Sum256(content)
	hash, other := hex.EncodeToString(sum[:]), bytes.Repeat([]byte("ebb. "), 4000)
	whole := func(w http.ResponseWriter, body []byte) { _, _ = w.Write(body) }
	partly := func(w http.ResponseWriter, r *http.Request, body []byte) {
		w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
	}
	stalled := make(chan struct{})
	read := func(b *bucket.Bucket, from int64) ([]byte, error) {
		f, err := b.Open(t.Context(), hash)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if _, err := f.Seek(from, io.SeekStart); err != nil {
			return nil, err
		}
		return io.ReadAll(f)
	}
	refused := 0
	for name, c := range map[string]struct {
		from   int64
		answer func(w http.ResponseWriter, r *http.Request)
	}{
		"other content": {0, func(w http.ResponseWriter, r *http.Request) { partly(w, r, other) }},
		"more than it said": {0, func(w http.ResponseWriter, r *http.Request) {
			whole(w, append(bytes.Clone(content), "more"...))
		}},
		"less than it said": {0, func(w http.ResponseWriter, r *http.Request) { whole(w, content[:100]) }},
		"the wrong part":    {10, func(w http.ResponseWriter, r *http.Request) { whole(w, content) }},
		"part of another one": {10, func(w http.ResponseWriter, r *http.Request) {
			r.Header.Set("Range", "bytes=5-")
			partly(w, r, content)
		}},
		"a cut line": {0, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(content)))
			whole(w, content[:5000])
			panic(http.ErrAbortHandler)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodHead {
					partly(w, r, content)
					return
				}
				c.answer(w, r)
			}))
			defer s.Close()
			got, err := read(open(t, s.URL, t.TempDir()), c.from)
			if err == nil {
				t.Errorf("%d bytes were read, as the server has them: %t", len(got), bytes.Equal(got, content[c.from:]))
			} else {
				refused++
			}
		})
	}

	t.Run("redirects", func(t *testing.T) {
		var reached atomic.Int64
		elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			reached.Add(1)
			partly(w, r, content)
		}))
		defer elsewhere.Close()
		for _, status := range []int{301, 302, 303, 307, 308} {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, elsewhere.URL+r.URL.Path, status)
			}))
			b := open(t, s.URL, t.TempDir())
			if _, err := read(b, 0); err == nil || errors.Is(err, blob.ErrNotFound) {
				t.Errorf("%d: it was read: %v", status, err)
			}
			if _, _, err := b.Put(t.Context(), bytes.NewReader(content)); err == nil {
				t.Errorf("%d: it was kept", status)
			}
			refused += 2
			s.Close()
		}
		if n := reached.Load(); n > 0 {
			t.Errorf("%d requests went to another host", n)
		}
	})

	t.Run("silence", func(t *testing.T) {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodHead {
				partly(w, r, content)
				return
			}
			w.Header().Set("Content-Length", fmt.Sprint(len(content)))
			whole(w, content[:5000])
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
				close(stalled)
			case <-time.After(time.Minute):
			}
		}))
		defer s.Close()
		b := open(t, s.URL, t.TempDir())
		bucket.SetResponseTimeout(b, 50*time.Millisecond)
		if got, err := read(b, 0); err == nil {
			t.Errorf("%d bytes were read", len(got))
		}
		<-stalled
		refused++
	})

	t.Run("pieces", func(t *testing.T) {
		honest := start(t)
		var lying atomic.Bool
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/uploads/") && lying.Load() {
				partly(w, r, other[:len(content)/2])
				return
			}
			pass(w, r, honest.url)
		}))
		defer front.Close()
		spool := t.TempDir()
		b := open(t, front.URL, spool)
		half := int64(len(content) / 2)
		send := func() error {
			have, _, err := b.UploadProgress(t.Context(), "laptop", hash)
			for whole := false; err == nil && !whole; {
				piece := bytes.NewReader(content[have:min(have+half, 2*half)])
				have, whole, err = b.ReceivePiece(t.Context(), "laptop", hash, 2*half, have, piece)
			}
			return err
		}
		lying.Store(true)
		if err := send(); err == nil {
			t.Error("pieces that the server changed were joined")
		}
		if _, err := b.Stat(t.Context(), hash); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("something is kept: %v", err)
		}
		refused++
		lying.Store(false)
		if err := send(); err != nil {
			t.Errorf("sent again: %v", err)
		}
		if got, err := read(b, 0); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%d bytes: %v", len(got), err)
		}
		if left, err := os.ReadDir(spool); len(left) > 0 || err != nil {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})

	t.Run("keys", func(t *testing.T) {
		const own = "records/of mara/"
		names := []string{
			"../../etc/passwd", own + "zz/" + hash, own + hash, own + hash[:2] + "/../" + hash,
			"elsewhere/" + hash[:2] + "/" + hash,
			own + hash[:2] + "/" + strings.ToUpper(hash),
			"elsewhere/uploads/0123/" + hash + "/kept", "uploads/x",
		}
		var deleted atomic.Int64
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodDelete {
				deleted.Add(1)
				return
			}
			w.Header().Set("Content-Type", "application/xml")
			_, _ = io.WriteString(w, "<ListBucketResult>")
			for _, name := range names {
				const object = "<Contents><Key>%s</Key><LastModified>2020-01-02T03:04:05Z</LastModified></Contents>"
				_, _ = fmt.Fprintf(w, object, name)
			}
			_, _ = io.WriteString(w, "</ListBucketResult>")
		}))
		defer s.Close()
		err := open(t, s.URL, t.TempDir()).List(t.Context(), time.Now(), func(e blob.StoredFile) error {
			return fmt.Errorf("%s is taken for a file of records", e.SHA256)
		})
		if err != nil || deleted.Load() > 0 {
			t.Errorf("%d objects of others were deleted: %v", deleted.Load(), err)
		}
		refused += len(names)
	})
	t.Attr("result", fmt.Sprintf("%d hostile answers, all refused", refused))
}

// pass forwards a request to another server.
func pass(w http.ResponseWriter, r *http.Request, to string) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	again, err := http.NewRequestWithContext(r.Context(), r.Method, to+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return
	}
	again.Header, again.Host = r.Header, r.Host
	answer, err := http.DefaultTransport.RoundTrip(again)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer answer.Body.Close()
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.StatusCode)
	_, _ = io.Copy(w, answer.Body)
}
