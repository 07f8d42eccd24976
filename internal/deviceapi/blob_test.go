package deviceapi_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/slice"
)

// withFiles is an enrolled device of a server that keeps files.
func withFiles(t testing.TB) (laptop, blob.FolderStorage) {
	l := newLaptop(t)
	place := blob.FolderStorage{Dir: t.TempDir()}
	l.config.Blobs, l.config.Uploads, l.config.BlobBytes = place, place, 1000
	l.mount()
	return l, place
}

func hashed(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

func (l laptop) piece(hash string, total, offset int, content string) answer {
	l.t.Helper()
	return l.send(http.MethodPut, l.own("/blobs/"+hash), l.DeviceToken, []byte(content), wire.OffsetHeader,
		strconv.Itoa(offset), wire.LengthHeader, strconv.Itoa(total))
}

func (l laptop) fileNote(id, content string) slice.Record {
	r := note(id, `,"scan":1`)
	r.Blobs = []slice.Blob{{Field: "scan", SHA256: hashed(content), Bytes: int64(len(content)), MIME: "text/HTML; x=y",
		Name: "../a.html"}}
	return r
}

// files are the contents that a record has.
func (l laptop) files(place blob.FolderStorage, id string) (out []string) {
	l.t.Helper()
	r, err := l.store.Record(l.t.Context(), l.ConnectorInstanceID, "notes", id)
	if err != nil {
		l.t.Fatal(err)
	}
	all, err := l.store.RecordBlobs(l.t.Context(), []int64{r.ID})
	if err != nil {
		l.t.Fatal(err)
	}
	for _, b := range all[r.ID] {
		f, err := place.Open(l.t.Context(), b.SHA256)
		if err != nil {
			l.t.Fatal(err)
		}
		var content bytes.Buffer
		_, _ = content.ReadFrom(f)
		_ = f.Close()
		out = append(out, b.MIME+" "+b.Name+" "+content.String())
	}
	return out
}

// A file comes in pieces, goes on where it was, and belongs to the record that comes after it.
func TestFileBeforeItsRecord(t *testing.T) {
	t.Parallel()
	l, place := withFiles(t)
	const content = "a scan of a page"
	hash := hashed(content)
	state := decode[wire.State](t, l.send(http.MethodGet, l.own("/state"), l.DeviceToken, nil))
	if !strings.Contains(strings.Join(state.Capabilities, " "), wire.CanBlobs) || state.Limits.BlobBytes != 1000 {
		t.Errorf("the server says %+v", state)
	}
	l.wants(l.piece(hash, len(content), 0, content[:5]), http.StatusOK, "")
	l.wants(l.piece(hash, len(content), 9, content[9:]), http.StatusConflict, wire.CodeBlobOffset)
	if at := decode[wire.Blob](t, l.send(http.MethodGet, l.own("/blobs/"+hash), l.DeviceToken, nil)); at.Received != 5 ||
		at.Whole {
		t.Errorf("it is at %+v", at)
	}
	if at := decode[wire.Blob](t, l.piece(hash, len(content), 5, content[5:])); !at.Whole ||
		at.Received != int64(len(content)) {
		t.Errorf("in the end it is at %+v", at)
	}
	l.wants(l.upload(l.batch(1, l.fileNote("a", content))), http.StatusCreated, "")
	l.equal(l.files(place, "a"), []string{"text/html _a.html " + content})
	l.equal(l.gaps(), nil)

	// Without a word of files those that it has stay; with an empty list they go.
	l.wants(l.upload(l.batch(2, note("a", `,"scan":2`))), http.StatusCreated, "")
	l.equal(l.files(place, "a"), []string{"text/html _a.html " + content})
	none := note("a", `,"scan":3`)
	none.Blobs = []slice.Blob{}
	l.wants(l.upload(l.batch(3, none)), http.StatusCreated, "")
	l.equal(l.files(place, "a"), nil)
}

// TestHashIsNoRight verifies that knowing a hash does not grant access to another source's file. The
// server does not reveal the file. A record that names it is stored without the file, and with a gap.
func TestHashIsNoRight(t *testing.T) { onBoth(t, testHashIsNoRight) }

func testHashIsNoRight(t *testing.T) {
	l, place := withFiles(t)
	const theirs = "what another source brought"
	other := laptop{l.bed, l.enrol(l.code("attic", ""), "")}
	l.wants(other.piece(hashed(theirs), len(theirs), 0, theirs), http.StatusOK, "")
	l.wants(other.upload(other.batch(1, other.fileNote("x", theirs))), http.StatusCreated, "")
	other.equal(other.files(place, "x"), []string{"text/html _a.html " + theirs})

	if at := decode[wire.Blob](t, l.send(http.MethodGet, l.own("/blobs/"+hashed(theirs)), l.DeviceToken, nil)); at.Whole ||
		at.Received != 0 {
		t.Errorf("it is told of %+v", at)
	}
	l.wants(l.upload(l.batch(1, l.fileNote("a", theirs))), http.StatusCreated, "")
	l.equal(l.files(place, "a"), nil)
	l.equal(l.gaps(), []string{"notes/a blob_failed pending"})

	// A source that has the content may upload it.
	l.wants(l.piece(hashed(theirs), len(theirs), 0, theirs), http.StatusOK, "")
	l.wants(l.upload(l.batch(2, l.fileNote("a", theirs))), http.StatusCreated, "")
	l.equal(l.files(place, "a"), []string{"text/html _a.html " + theirs})
	l.equal(l.gaps(), []string{"notes/a blob_failed recovered"})
	// And what a record of the connection has need not come again.
	if at := decode[wire.Blob](t, l.send(http.MethodGet, l.own("/blobs/"+hashed(theirs)), l.DeviceToken, nil)); !at.Whole {
		t.Errorf("its own: %+v", at)
	}
	// A device that takes the connection over need not upload it either, as long as the file is there.
	next := laptop{l.bed, l.enrol(l.code("home", ""), "")}
	for _, there := range []bool{true, false} {
		at := decode[wire.Blob](t, l.send(http.MethodGet, next.own("/blobs/"+hashed(theirs)), next.DeviceToken, nil))
		if at.Whole != there || at.Received != 0 {
			t.Errorf("its successor: %+v, want whole %v", at, there)
		}
		l.wants(next.upload(next.batch(3, l.fileNote("b", theirs))), http.StatusCreated, "")
		if err := place.Remove(t.Context(), hashed(theirs)); there && err != nil {
			t.Fatal(err)
		}
	}
	l.wants(l.send(http.MethodGet, other.own("/blobs/"+hashed(theirs)), l.DeviceToken, nil), http.StatusForbidden,
		"permission_error")
	l.wants(l.send(http.MethodGet, l.own("/blobs/"+hashed(theirs)), "", nil), http.StatusUnauthorized,
		"authentication_error")
}

// What is no file, is too large or a lie is refused, and nothing of it is kept.
func TestBadFiles(t *testing.T) { onBoth(t, testBadFiles) }

func testBadFiles(t *testing.T) {
	l, place := withFiles(t)
	l.wants(l.piece("../../pdpp.db", 1, 0, "x"), http.StatusNotFound, "not_found")
	l.wants(l.piece(strings.Repeat("A", 64), 1, 0, "x"), http.StatusBadRequest, "invalid_request")
	l.wants(l.piece(hashed("x"), 1001, 0, "x"), http.StatusBadRequest, wire.CodeBlobTooLarge)
	l.wants(l.piece(hashed("x"), 1, 0, "y"), http.StatusBadRequest, wire.CodeBlobContent)
	l.wants(l.send(http.MethodPut, l.own("/blobs/"+hashed("x")), l.DeviceToken, []byte("x")), http.StatusBadRequest,
		"invalid_request")
	l.wants(l.piece(hashed("x"), 1, -1, "x"), http.StatusBadRequest, "invalid_request")
	l.wants(l.piece(hashed("x"), 0, 1, "x"), http.StatusBadRequest, "invalid_request")
	for _, header := range [][2]string{{"0x0", "1"}, {"0", "0x1"}} {
		l.wants(l.send(http.MethodPut, l.own("/blobs/"+hashed("x")), l.DeviceToken, []byte("x"),
			wire.OffsetHeader, header[0], wire.LengthHeader, header[1]), http.StatusBadRequest, "invalid_request")
	}
	l.wants(l.send(http.MethodGet, l.own("/blobs/none"), l.DeviceToken, nil), http.StatusBadRequest, "invalid_request")
	if _, err := place.Stat(t.Context(), hashed("y")); err == nil {
		t.Error("a lie is kept")
	}
	// More than was announced is not read.
	if at := decode[wire.Blob](t, l.piece(hashed("x"), 1, 0, "xyz")); !at.Whole || at.Received != 1 {
		t.Errorf("it is at %+v", at)
	}
	if err := errors.Join(os.RemoveAll(place.Dir), os.WriteFile(place.Dir, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	// Nothing can be written.
	l.wants(l.piece(hashed("z"), 1, 0, "z"), http.StatusServiceUnavailable, wire.CodeIngestRetryable)
	l.config.Blobs, l.config.Uploads = nil, nil
	l.mount()
	l.wants(l.piece(hashed("x"), 1, 0, "x"), http.StatusServiceUnavailable, wire.CodeIngestRetryable)
	l.wants(l.upload(l.batch(1, l.fileNote("a", "x"))), http.StatusCreated, "")
	l.equal(l.gaps(), []string{"notes/a blob_failed pending"})
}
