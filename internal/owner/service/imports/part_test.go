package imports

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// However a file is cut into pieces, and wherever senders break off, come twice at once, or the server
// is killed before it has noted the sum, what is whole in the end is the file.
func TestPartsAreWhole(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		content := rapid.StringMatching(`[a-z ]{1,400}`).Draw(rt, "content")
		id, sum := "upl_x", sha256.Sum256([]byte(content))
		if _, err := createPartialFile(folder, id,
			partialFileMetadata{Name: "x.txt", Bytes: int64(len(content)), SHA256: hex.EncodeToString(sum[:])}); err != nil {
			rt.Fatal(err)
		}
		for step := 0; ; step++ {
			p, err := openPartialFile(folder, id) // as a restarted server
			if err != nil {
				rt.Fatal(err)
			}
			from := int(p.received)
			to := min(len(content), from+rapid.IntRange(0, 200).Draw(rt, "length")+step/20)
			sender := io.Reader(strings.NewReader(content[from:to]))
			var stale []byte
			switch rapid.IntRange(0, 3).Draw(rt, "what happens") {
			case 1: // the line breaks
				sender = io.MultiReader(sender, iotest.ErrReader(errors.New("the line broke")))
			case 2: // another goes on before it, and what it still brings is wrong
				first := min(from+1, to)
				half, late := first+(to-first)/2, content[first:to]
				if half > first {
					late = strings.Repeat("X", to-first)
				}
				sender = io.MultiReader(strings.NewReader(content[from:first]), interruptingReader(func() {
					other, err := openPartialFile(folder, id)
					if err == nil {
						_, _ = other.appendPiece(t.Context(), int64(first), strings.NewReader(content[first:half]))
					}
				}), strings.NewReader(late))
			case 3: // the server is killed before it has noted the sum
				if stale, err = os.ReadFile(partialMetadataPath(folder, id)); err != nil {
					rt.Fatal(err)
				}
			}
			sum, err := p.appendPiece(t.Context(), int64(from), sender)
			if err != nil && !hasCode(err, api.CodeFileCut) && !hasCode(err, api.CodeUploadOffset) {
				rt.Fatal(err)
			}
			if stale != nil {
				if err := os.WriteFile(partialMetadataPath(folder, id), stale, 0o600); err != nil {
					rt.Fatal(err)
				}
			}
			if err == nil && p.received == p.Bytes {
				if _, err := p.completeFile(sum, ""); err != nil {
					rt.Fatal(err)
				}
				break
			}
		}
		if got, err := os.ReadFile(partialFilePath(folder, id)); err != nil || string(got) != content {
			rt.Fatalf("%q came as %q: %v", content, got, err)
		}
		(&partialFile{folder: folder, id: id}).removeFiles()
		if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
			rt.Fatalf("left are %v, %v", left, err)
		}
	})
}

// interruptingReader calls a function when it is read, and returns io.EOF.
type interruptingReader func()

func (g interruptingReader) Read([]byte) (int, error) {
	g()
	return 0, io.EOF
}

func hasCode(err error, code string) bool {
	var known *api.Error
	return errors.As(err, &known) && known.Code == code
}
