package service

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

func hexSHA256(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// sendPiece adds one to an upload.
func (b *serviceHarness) sendPiece(u api.Upload, offset int, sha string, content io.Reader) (api.Upload, error) {
	return b.AddPiece(b.ctx(), u.ConnectionID, u.ID, api.Piece{Offset: int64(offset), SHA256: sha, Content: content})
}

// A file that comes in pieces is one file: what came before a cut stays, a piece from elsewhere is
// refused, and with the last byte there is the receipt that a file at once would have. The same content
// again needs no piece, and one that was broken off is found by its content.
func TestUpload(t *testing.T) {
	t.Parallel()
	b, id := newAlbumHarness(t)
	content := strings.Repeat("a 1\nb 1\n", 20)
	begun, err := b.BeginUpload(b.ctx(), id, api.NewUpload{Name: "../large.txt", Bytes: int64(len(content))})
	b.requireNoError(err)
	if begun.Received != 0 || begun.Name != "large.txt" || begun.KeptUntil == nil {
		t.Errorf("begun as %+v", begun)
	}
	broken := io.MultiReader(strings.NewReader(content[:30]), iotest.ErrReader(errors.New("the line broke")))
	if _, err := b.sendPiece(begun, 0, "", broken); !hasErrorCode(err, api.CodeFileCut) {
		t.Errorf("a cut is %v", err)
	}
	now, err := b.UploadByID(b.ctx(), id, begun.ID)
	b.requireNoError(err)
	if now.Received != 30 {
		t.Errorf("%d bytes of a piece stayed, 30 came", now.Received)
	}
	for _, wrong := range []int{0, 29, 31} {
		if _, err := b.sendPiece(begun, wrong, "", strings.NewReader("x")); !hasErrorCode(err, api.CodeUploadOffset) {
			t.Errorf("a piece from %d: %v", wrong, err)
		}
	}
	if _, err := b.sendPiece(begun, 30, "", strings.NewReader(content[30:]+"more")); !hasErrorCode(err, api.CodeInvalid) {
		t.Errorf("more than was said: %v", err)
	}
	listed, err := b.Uploads(b.ctx(), id)
	b.requireNoError(err)
	if len(listed) != 1 || listed[0].ID != begun.ID || listed[0].Received != 30 {
		t.Errorf("listed are %+v", listed)
	}
	if _, err := b.sendPiece(begun, 30, "", strings.NewReader(content[30:])); !hasErrorCode(err, api.CodeInvalid) {
		t.Errorf("nobody said what it holds: %v", err)
	}
	done, err := b.sendPiece(begun, len(content), hexSHA256(content), nil)
	b.requireNoError(err)
	if done.Import == nil || done.Import.SHA256 != hexSHA256(content) || *done.Import.Bytes != int64(len(content)) ||
		done.Import.Already || done.Import.Status != api.ImportWaiting {
		t.Fatalf("the receipt is %+v", done.Import)
	}
	if names := strings.Join(b.importedFiles(id), " "); names != "large.txt" {
		t.Errorf("in the folder are %s", names)
	}
	if got, err := os.ReadFile(filepath.Join(b.home, "imports", id, "large.txt")); err != nil || string(got) != content {
		t.Errorf("it holds %d bytes: %v", len(got), err)
	}
	if asked, err := b.Store.ListRunRequests(b.ctx(), id); err != nil || len(asked) != 1 {
		t.Errorf("asked for are %+v, %v", asked, err)
	}
	b.readFiles(id)
	again, err := b.BeginUpload(b.ctx(), id, api.NewUpload{Name: "other.txt", Bytes: int64(len(content)),
		SHA256: hexSHA256(content)})
	b.requireNoError(err)
	if again.Import == nil || again.Import.ID != done.Import.ID || !again.Import.Already || again.ID != "" {
		t.Errorf("the same content again is %+v", again)
	}

	second := content + "c 1\n"
	first, err := b.BeginUpload(b.ctx(), id,
		api.NewUpload{Name: "more.txt", Bytes: int64(len(second)), SHA256: hexSHA256(second)})
	b.requireNoError(err)
	_, err = b.sendPiece(first, 0, "", strings.NewReader(second[:50]))
	b.requireNoError(err)
	found, err := b.BeginUpload(b.ctx(), id,
		api.NewUpload{Name: "more.txt", Bytes: int64(len(second)), SHA256: hexSHA256(second)})
	b.requireNoError(err)
	if found.ID != first.ID || found.Received != 50 {
		t.Errorf("one that was broken off is %+v", found)
	}
	if _, err := b.sendPiece(first, 50, "", strings.NewReader(strings.Repeat("x", len(second)-50))); !hasErrorCode(err,
		api.CodeFileDiffers) {
		t.Errorf("another content: %v", err)
	}
	if names := strings.Join(b.importedFiles(id), " "); names != "large.txt" {
		t.Errorf("another content left %s", names)
	}
}

func hasErrorCode(err error, code string) bool {
	var known *api.Error
	return errors.As(err, &known) && known.Code == code && known.Next != ""
}

// Uploads are limited in size and number and belong to one connection. Dropped and abandoned uploads are deleted;
// files imported in one request are not affected.
func TestUploadBounds(t *testing.T) {
	t.Parallel()
	b, id := newAlbumHarness(t)
	for name, n := range map[string]api.NewUpload{
		api.CodeFileTooLarge:    {Name: "a.txt", Bytes: 1001},
		api.CodeFileNotAccepted: {Name: "a.heic", Bytes: 10},
		api.CodeInvalid:         {Name: "a.txt"},
	} {
		if _, err := b.BeginUpload(b.ctx(), id, n); !hasErrorCode(err, name) {
			t.Errorf("%+v: %v", n, err)
		}
	}
	if _, err := b.BeginUpload(b.ctx(), id, api.NewUpload{Name: "a.txt", Bytes: 1, SHA256: "abc"}); !hasErrorCode(err,
		api.CodeInvalid) {
		t.Errorf("a wrong sum: %v", err)
	}
	var all []api.Upload
	for range 20 { // the most of one connection
		u, err := b.BeginUpload(b.ctx(), id, api.NewUpload{Name: "a.txt", Bytes: 10})
		b.requireNoError(err)
		all = append(all, u)
	}
	if _, err := b.BeginUpload(b.ctx(), id, api.NewUpload{Name: "a.txt", Bytes: 10}); !hasErrorCode(err,
		api.CodeTooManyUploads) {
		t.Errorf("one too many: %v", err)
	}
	for _, other := range []string{"upl_../../../../../etc/passwd", "upl_" + strings.Repeat("a", 26), "..", ""} {
		if _, err := b.UploadByID(b.ctx(), id, other); !hasErrorCode(err, api.CodeNotFound) {
			t.Errorf("%q is %v", other, err)
		}
	}
	b.requireNoError(b.DropUpload(b.ctx(), id, all[0].ID))
	if _, err := b.UploadByID(b.ctx(), id, all[0].ID); !hasErrorCode(err, api.CodeNotFound) {
		t.Errorf("dropped it is %v", err)
	}
	// All but one are older than uploads are kept.
	for _, u := range all[2:] {
		old := time.Now().Add(-3*24*time.Hour - time.Minute)
		for _, ending := range []string{".part", ".about.part"} {
			b.requireNoError(os.Chtimes(filepath.Join(b.home, "imports", id, ".receiving-"+u.ID+ending), old, old))
		}
	}
	b.requireNoError(b.SweepUploads(b.ctx()))
	left, err := b.Uploads(b.ctx(), id)
	b.requireNoError(err)
	if len(left) != 1 || left[0].ID != all[1].ID || len(b.importedFiles(id)) != 2 {
		t.Errorf("left are %+v, as %v", left, b.importedFiles(id))
	}
	b.requireNoError(b.Revoke(b.ctx(), id))
	if _, err := b.sendPiece(all[1], 0, hexSHA256("0123456789"), strings.NewReader("0123456789")); !hasErrorCode(err,
		api.CodeRevoked) {
		t.Errorf("after the connection has ended: %v", err)
	}
}
