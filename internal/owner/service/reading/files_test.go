package reading

import (
	"errors"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/slice"
)

// A record lists its files, and each file is copied unchanged. A file without a record and a file missing from
// storage return different errors.
func TestFiles(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.Connect()
	hash, n, err := d.files.Put(d.Ctx(), strings.NewReader("what the map shows"))
	d.Must(err)
	orphan, _, err := d.files.Put(d.Ctx(), strings.NewReader("of nobody"))
	d.Must(err)
	bed := slice.Record{Stream: "beds", Key: "b1", Data: []byte(`{"id":"b1","plan":{}}`),
		EmittedAt: "2026-01-02T03:04:05Z",
		Blobs:     []slice.Blob{{Field: "plan", SHA256: hash, Bytes: n, MIME: "text/plain", Name: "map.txt"}}}
	d.Collect(id, []slice.Record{bed})

	r, _, err := d.Record(d.Ctx(), id, "beds", "b1")
	d.Must(err)
	if want := (api.File{SHA256: hash, Bytes: n, Field: "plan", MIME: "text/plain", Name: "map.txt"}); len(r.Files) != 1 ||
		r.Files[0] != want {
		t.Errorf("its files are %+v", r.Files)
	}
	var out strings.Builder
	if err := d.CopyFile(d.Ctx(), &out, hash); err != nil || out.String() != "what the map shows" {
		t.Errorf("copied %q, %v", out.String(), err)
	}
	refused := func(hash, code string) {
		t.Helper()
		out.Reset()
		var e *api.Error
		if err := d.CopyFile(d.Ctx(), &out, hash); !errors.As(err, &e) || e.Code != code || out.Len() > 0 {
			t.Errorf("%.20s: %v, and %d bytes", hash, err, out.Len())
		}
	}
	refused(orphan, api.CodeNotFound)
	refused("../pdpp.db", api.CodeNotFound)
	d.Must(d.files.Remove(d.Ctx(), hash))
	refused(hash, "file_missing")
}
