package mirror

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/pdpp-go/pdpp/internal/blob/bucket"
)

// startBucket returns the address of an empty bucket.
func startBucket(t *testing.T, wrap func(http.Handler) http.Handler) (address string, backend *s3mem.Backend) {
	t.Helper()
	backend = s3mem.New()
	if err := backend.CreateBucket("life"); err != nil {
		t.Fatal(err)
	}
	handler := gofakes3.New(backend).Server()
	if wrap != nil {
		handler = wrap(handler)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return "s3://life/mara's/records?endpoint=" + server.URL, backend
}

// placeOf returns a folder, or a bucket for an address.
func placeOf(place string) Destination {
	if !strings.HasPrefix(place, "s3://") {
		return Folder(place)
	}
	f, err := bucket.OpenFiles(place, bucket.AccessKeys{ID: "harbour", Secret: "harbour-secret-0001"}, os.TempDir())
	if err != nil {
		panic(err)
	}
	return f
}

// downloaded returns a folder with what is in a place.
func downloaded(t *testing.T, place string) string {
	t.Helper()
	from, ours := placeOf(place).(bucket.Files)
	if !ours {
		return place
	}
	to := Folder(t.TempDir())
	names := []string{viewsFile}
	add := func(name string, _ int64) { names = append(names, name) }
	if err := from.List(t.Context(), "cin_one/notes", add); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		content, err := from.Read(t.Context(), name)
		if err == nil {
			err = to.Create(t.Context(), func(w io.Writer) (string, error) { _, err := w.Write(content); return name, err })
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return string(to)
}

// heldRequests are requests that a server never answers.
type heldRequests struct {
	at chan struct{} // receives one value for each

	mu    sync.Mutex
	after int
	whole bool
	count int
}

// hold lets the server not answer the request after some others. Either it never reads that request, or it carries it
// out.
func (h *heldRequests) hold(after int, whole bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.after, h.whole = after, whole
}

func (h *heldRequests) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		h.after--
		held, whole := h.after == 0, h.whole
		if held {
			h.count++
		}
		h.mu.Unlock()
		if !held {
			next.ServeHTTP(w, r)
			return
		}
		if whole {
			next.ServeHTTP(httptest.NewRecorder(), r)
		} else {
			_, _ = io.CopyN(io.Discard, r.Body, 10)
		}
		h.at <- struct{}{}
		panic(http.ErrAbortHandler)
	})
}

// What the owner deletes for good is in no version of an object, and a second pass without changes asks for nothing.
func TestMirrorInABucket(t *testing.T) {
	t.Parallel()
	requests := 0
	place, backend := startBucket(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { requests++; next.ServeHTTP(w, r) })
	})
	if err := backend.SetVersioningConfiguration("life",
		gofakes3.VersioningConfiguration{Status: gofakes3.VersioningEnabled}); err != nil {
		t.Fatal(err)
	}
	o := &changingOwner{}
	for _, key := range []string{"amber", "birch", "cedar"} {
		o.change(key, false)
	}
	m := testMirror(o, place)
	m.memory = &memory{streams: map[string]progress{}}
	for range 2 {
		requests = 0
		if _, err := m.Update(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if requests != 0 {
		t.Errorf("%d requests without a change", requests)
	}
	o.changes, o.purged = o.changes[1:], 4 // its tombstone was the last change
	if _, err := m.Update(context.Background()); err != nil {
		t.Fatal(err)
	}
	all, err := backend.ListBucketVersions("life", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	parts := 0
	for _, v := range all.Versions {
		version, is := v.(*gofakes3.Version)
		if !is || filepath.Ext(version.Key) != ".jsonl" {
			continue
		}
		parts++
		object, err := backend.GetObjectVersion("life", version.Key, version.VersionID, nil)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(object.Contents)
		if err != nil || strings.Contains(string(content), "amber") || !strings.Contains(string(content), "birch") {
			t.Errorf("%s has %s, %v", version.Key, content, err)
		}
	}
	if parts != 1 {
		t.Errorf("%d versions of parts", parts)
	}
}
