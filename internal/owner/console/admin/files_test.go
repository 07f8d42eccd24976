package admin

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// importer accepts every file except pictures. It records the state of the context that revoked a
// connection.
type importer struct {
	*owner
	revoked error // of the context that a connection was revoked with
}

func (o *importer) Import(ctx context.Context, id string, f api.ImportFile) (api.Import, error) {
	if _, err := io.ReadAll(f.Content); err != nil || ctx.Err() != nil {
		return api.Import{}, &api.Error{Status: http.StatusBadRequest, Code: api.CodeFileCut,
			Message: "The file did not come to its end.", Next: "Give it again."}
	}
	if strings.HasSuffix(f.Name, ".heic") {
		return api.Import{}, &api.Error{Status: http.StatusUnsupportedMediaType, Code: api.CodeFileNotAccepted,
			Message: "Kelp does not read " + f.Name + ".", Next: "Give a table."}
	}
	return api.Import{ID: "imp_" + f.Name, ConnectionID: id, Name: f.Name}, o.did("Import " + id + " " + f.Name)
}

func (o *importer) Revoke(ctx context.Context, id string) error {
	o.revoked = ctx.Err()
	return o.did("Revoke " + id)
}

// brings sends a form with files of these names; cut, it ends in the middle of the last one because
// the browser is gone.
func brings(t *testing.T, o *importer, at string, cut bool, names ...string) page {
	t.Helper()
	var body strings.Builder
	for _, name := range names {
		body.WriteString("--xx\r\nContent-Disposition: form-data; name=\"files\"; filename=\"" + name + "\"\r\n\r\na,b\r\n")
	}
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	in := io.Reader(strings.NewReader(body.String() + "--xx--\r\n"))
	if cut {
		in = io.MultiReader(strings.NewReader(body.String()), broken(leave))
	}
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, at, in)
	r.Header.Set("Content-Type", "multipart/form-data; boundary=xx")
	o.connectors[0].Files = &api.FileImport{MaxBytes: 1 << 20}
	w := httptest.NewRecorder()
	worldOf(t, o.owner, o).ServeHTTP(w, r)
	return page{ResponseRecorder: w}
}

// broken is a connection that breaks when it is read.
type broken func()

func (b broken) Read([]byte) (int, error) {
	b()
	return 0, errors.New("connection reset")
}

// said returns the flash message that waits for the next page.
func said(t *testing.T, p page) string {
	t.Helper()
	for _, c := range p.Result().Cookies() {
		if text, err := base64.RawURLEncoding.DecodeString(c.Value); c.Name == "pdpp_said" && err == nil {
			return string(text)
		}
	}
	t.Fatal("no message waits")
	return ""
}

// When one of several files is refused, those before it are kept, and the owner hears which one is not
// there: with a connection that is made for them as with one that is there.
func TestOneOfSeveralFilesIsRefused(t *testing.T) {
	t.Parallel()
	for at, id := range map[string]string{"/sources/add/kelp/files": "cin_kelp_2",
		"/sources/cin_kelp_1/files": "cin_kelp_1"} {
		o := &importer{owner: mara()}
		p := brings(t, o, at, false, "one.csv", "two.heic", "three.csv")
		to(t, p, "/sources/"+id+"/files")
		if words := said(t, p); !strings.Contains(words, `"bad"`) ||
			!strings.Contains(words, "1 file is here; the next one is not. Kelp does not read two.heic. Give a table.") {
			t.Errorf("%s says %s", at, words)
		}
	}
}

// A connection is made with its first file or not at all, also when the browser leaves in the middle of it.
func TestNoConnectionWithoutItsFile(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]bool{"two.heic": false, "one.csv": true} {
		o := &importer{owner: mara()}
		brings(t, o, "/sources/add/kelp/files", cut, name)
		want(t, o.owner, "Connect kelp; Revoke cin_kelp_2")
		if o.revoked != nil {
			t.Errorf("%s: the connection was to be revoked by somebody who had left: %v", name, o.revoked)
		}
	}
}

// half is an owner with a file that has not come to its end.
type half struct{ *owner }

func (o half) Uploads(context.Context, string) ([]api.Upload, error) {
	until := now.Add(48 * time.Hour)
	return []api.Upload{{ID: "upl_1", ConnectionID: "cin_kelp_1", Name: "beds <b>.zip", Bytes: 40 << 20,
		Received: 10 << 20, KeptUntil: &until}}, nil
}

func (o half) Imports(context.Context, string) ([]api.Import, error) { return nil, nil }

func (o half) DropUpload(_ context.Context, id, upload string) error {
	return o.did("DropUpload " + id + " " + upload)
}

// A file that has not come to its end is shown with how much is here and how to go on, and can be dropped.
func TestUnfinishedFile(t *testing.T) {
	t.Parallel()
	o := half{mara()}
	w := httptest.NewRecorder()
	worldOf(t, o.owner, o).ServeHTTP(w,
		httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/sources/cin_kelp_1/files", nil))
	if body := w.Body.String(); w.Code != http.StatusOK ||
		!strings.Contains(body, "10.0 MiB of 40.0 MiB are here. Choose the same file again to continue.") ||
		strings.Contains(body, "<b>.zip") {
		t.Errorf("%d: %s", w.Code, body)
	}
	w = httptest.NewRecorder()
	worldOf(t, o.owner, o).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost,
		"/sources/cin_kelp_1/files/uploads/upl_1/drop", nil))
	to(t, page{ResponseRecorder: w}, "/sources/cin_kelp_1/files")
	want(t, o.owner, "DropUpload cin_kelp_1 upl_1")
}

// reading is an owner with a file that holds more than its source collects.
type reading struct{ *owner }

var heldBesides = []api.LeftOut{{Kind: "Sea charts", Count: 1200, Known: true}, {Kind: "hold/*.bin", Count: 3}}

func (o *reading) ImportByID(context.Context, string) (api.Import, error) {
	return api.Import{ID: "imp_1", ConnectionID: "cin_kelp_1", Name: "kelp.zip", Status: api.ImportRead, New: 7,
		LeftOut: heldBesides}, nil
}

func (o *reading) Gaps(context.Context, api.GapQuery) (api.GapPage, error) {
	return api.GapPage{LeftOut: heldBesides}, nil
}

// The receipt of a file and the page of what is missing name what the file holds and its source does
// not collect.
func TestLeftOutIsNamed(t *testing.T) {
	o := mara()
	h := worldOf(t, o, &reading{o})
	get(t, h, "/sources/cin_kelp_1/files/imp_1").says(t, "Left out Sea charts (1,200)",
		"Not recognized hold/*.bin (3)", "2 kinds of content were left out")
	p := get(t, h, "/sources/cin_kelp_1/missing")
	p.says(t, "Nothing that this source collects is known to be missing.", "Left out Sea charts (1,200)",
		"Not recognized hold/*.bin (3)")
	if strings.Contains(p.Body.String(), "Nothing is known to be missing") {
		t.Error("nothing is said to be missing although something is left out")
	}
}
