package readapi_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// shelved returns a world with notes that have files: one in a public field, one in a private field, one in the other
// account.
func shelved(t *testing.T, open opener) (w *world, body, private, theirs string) {
	place := blob.FolderStorage{Dir: t.TempDir()}
	w = newWorldWith(t, open(t), place)
	keep := func(content string) string {
		hash, _, err := place.Put(w.ctx(), strings.NewReader(content))
		check(t, err)
		return hash
	}
	body, private, theirs = keep("the body of a note"), keep("private"), keep("of the other account")
	with := func(l store.Lease, r slice.Record, field, hash, mime, name string) {
		r.Blobs = append(r.Blobs, slice.Blob{Field: field, SHA256: hash, Bytes: 18, MIME: mime, Name: name})
		_, err := w.store.CommitSlice(w.ctx(), l,
			slice.Slice{Records: []slice.Record{r}, Present: func(ctx context.Context, hashes []string) ([]string, error) {
				return blob.MissingFiles(ctx, place, hashes)
			}}, w.time())
		check(t, err)
	}
	mine, other := w.connect("mine"), w.connect("other")
	with(mine, note("n1", at(1, 10), "garden plan", "plant pears", "zebra", "home"), "body", body, "text/html",
		`"><script>.html`)
	with(mine, note("n2", at(3, 10), "coast", "boots", "quokka", "away"), "private", private, "image/svg+xml",
		"ünï\r\nX: y.svg")
	with(other, note("m1", at(2, 12), "pangolin notes", "other account", "dugong", "away"), "body", theirs, "text/plain",
		"")
	return w, body, private, theirs
}

// A grant reads a file through a record within its limits and a field that it has, and otherwise it
// is not there, whatever the reader knows.
func TestFilesByGrant(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		w, body, private, theirs := shelved(t, open)
		all := grants.Stream{ConnectionID: "mine", Stream: "notes"}
		february := at(2, 1)
		for _, c := range []struct {
			name  string
			scope func(*grants.Stream)
			may   []string
		}{
			{"the stream", func(*grants.Stream) {}, []string{body, private}},
			{"a field of it", func(s *grants.Stream) { s.Fields = []string{"id", "body"} }, []string{body}},
			{"another field", func(s *grants.Stream) { s.Fields = []string{"id", "title"} }, nil},
			{"a record", func(s *grants.Stream) { s.Resources = []string{"n2"} }, []string{private}},
			{"a time", func(s *grants.Stream) { s.Until = &february }, []string{body}},
			{"another stream", func(s *grants.Stream) { s.Stream = "letters" }, nil},
			{"the other account", func(s *grants.Stream) { s.ConnectionID = "other" }, []string{theirs}},
		} {
			scope := all
			c.scope(&scope)
			token := w.grant(store.GrantContinuous, scope)
			for _, hash := range []string{body, private, theirs} {
				want := http.StatusNotFound
				for _, may := range c.may {
					if may == hash {
						want = http.StatusOK
					}
				}
				got := w.ask(token, "/v1/blobs/"+hash)
				if got.status != want {
					t.Errorf("%s: a file answers %d, want %d", c.name, got.status, want)
				}
				if unknown := w.ask(token, "/v1/blobs/"+strings.Repeat("0", 64)); want == http.StatusNotFound &&
					got.code() != unknown.code() {
					t.Errorf("%s: what may not be read is told from what is not there", c.name)
				}
			}
		}
		token := w.grant(store.GrantContinuous, all)
		for _, odd := range []string{"..%2f..%2fpdpp.db", strings.ToUpper(body), body + "0", "%00", body[:2] + "%2f" + body} {
			if got := w.ask(token, "/v1/blobs/"+odd); got.status == http.StatusOK {
				t.Errorf("%q is answered: %s", odd, got.body)
			}
		}
		if got := w.askWith("", "/v1/blobs/"+body); got.status != http.StatusUnauthorized {
			t.Errorf("nobody in particular gets %d", got.status)
		}
		if got := w.ask(w.grant(store.GrantSingleUse, all), "/v1/blobs/"+body); got.status == http.StatusOK {
			t.Error("a grant for one reading reads files beside it")
		}
		if got := w.ask(w.owner(), "/v1/blobs/"+theirs); got.status != http.StatusOK || got.body != "of the other account" {
			t.Errorf("the owner gets %d: %s", got.status, got.body)
		}
		some := all
		some.Fields = []string{"id", "private"}
		listed := w.ask(w.grant(store.GrantContinuous, some), "/v1/streams/notes/records").body
		if !strings.Contains(listed, private) || strings.Contains(listed, body) {
			t.Errorf("records tell of files as %s", listed)
		}
	})
}

// A file is never a page of this server, and its ranges are those of its content.
func TestFilesAreAttachments(t *testing.T) {
	w, body, private, _ := shelved(t, inSQLite)
	token := w.owner()
	ask := func(hash string, header ...string) (int, http.Header, string) {
		t.Helper()
		req, err := http.NewRequest(http.MethodGet, w.address+"/v1/blobs/"+hash, nil)
		check(t, err)
		req.Header.Set("Authorization", "Bearer "+token)
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		res, err := http.DefaultClient.Do(req)
		check(t, err)
		defer res.Body.Close()
		content, err := io.ReadAll(res.Body)
		check(t, err)
		return res.StatusCode, res.Header, string(content)
	}
	for _, hash := range []string{body, private} {
		_, h, _ := ask(hash)
		if !strings.HasPrefix(h.Get("Content-Disposition"), "attachment") || h.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.Contains(h.Get("Content-Security-Policy"), "sandbox") || h.Get("ETag") != `"`+hash+`"` || h.Get("X") != "" {
			t.Errorf("headers %v", h)
		}
	}
	etag := `"` + body + `"`
	for _, c := range []struct {
		header []string
		status int
		body   string
	}{
		{nil, 200, "the body of a note"},
		{[]string{"Range", "bytes=4-7"}, 206, "body"},
		{[]string{"Range", "bytes=-4"}, 206, "note"},
		{[]string{"Range", "bytes=4-7", "If-Range", etag}, 206, "body"},
		{[]string{"Range", "bytes=4-7", "If-Range", `"another"`}, 200, "the body of a note"},
		{[]string{"If-None-Match", etag}, 304, ""},
		{[]string{"Range", "bytes=100-"}, 416, ""},
		{[]string{"Range", "bytes=7-4"}, 416, ""},
		{[]string{"Range", "lines=1-2"}, 416, ""},
	} {
		status, _, content := ask(body, c.header...)
		if status != c.status || c.body != "" && content != c.body {
			t.Errorf("%v: %d %q, want %d %q", c.header, status, content, c.status, c.body)
		}
	}
	// As many ranges as fit in a header return no more than the file.
	many := "bytes=" + strings.Repeat("0-,", 1000) + "0-"
	if status, _, content := ask(body, "Range", many); status == http.StatusPartialContent || len(content) > 1000 {
		t.Errorf("%d with %d bytes for many ranges", status, len(content))
	}
}
