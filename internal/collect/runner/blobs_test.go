package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pdpp-go/pdpp/protocol"
)

// keeper keeps files in memory.
type keeper struct {
	files map[string][]byte
	err   error
}

func (k *keeper) Put(_ context.Context, r io.Reader) (string, int64, error) {
	b, err := io.ReadAll(r)
	if err == nil {
		err = k.err
	}
	if err != nil {
		return "", 0, err
	}
	sum := sha256.Sum256(b)
	hash := hex.EncodeToString(sum[:])
	if k.files == nil {
		k.files = map[string][]byte{}
	}
	k.files[hash] = b
	return hash, int64(len(b)), nil
}

// filing returns a dialogue with files in the connector's working directory.
func filing(t *testing.T, files map[string]string) (*dialogue, *keeper, string) {
	t.Helper()
	dir := t.TempDir()
	for path, content := range files {
		full := filepath.Join(dir, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o700),
			os.WriteFile(full, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	d, k := newDialogue(t, "threads"), &keeper{}
	d.spec.Blobs, d.dir = k, dir
	return d, k, dir
}

func threadWith(key, blobs string) string {
	return `{"type":"RECORD","stream":"threads","key":"` + key + `","data":{"id":"` + key +
		`","updated_at":"2026-02-01"},"emitted_at":"2026-03-01","blobs":` + blobs + `}`
}

// A file is kept before its record, named by its content, and gone from the working directory
// once the record is durable.
func TestFileIsKeptWithItsRecord(t *testing.T) {
	d, k, dir := filing(t, map[string]string{"sub/a.pdf": "content"})
	o := d.say(t, threadWith("t1",
		`[{"field":"id","path":"sub/a.pdf","mime":"Application/PDF; x=y","name":"../Map\u202e.pdf"}]`),
		`{"type":"STATE","stream":"threads","cursor":{"n":1}}`)
	if o.Status != Succeeded || len(d.slices) == 0 {
		t.Fatalf("the run ended as %s: %+v", o.Status, o.Failure)
	}
	blobs := d.slices[0].Records[0].Blobs
	if len(blobs) != 1 || string(k.files[blobs[0].SHA256]) != "content" || blobs[0].Bytes != 7 || blobs[0].Field != "id" {
		t.Fatalf("kept %+v", blobs)
	}
	if blobs[0].MIME != "application/pdf" || blobs[0].Name != "_Map.pdf" {
		t.Errorf("type %q, name %q", blobs[0].MIME, blobs[0].Name)
	}
	if _, err := os.Lstat(filepath.Join(dir, "sub/a.pdf")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the connector's copy is still there: %v", err)
	}
}

// Only a file below the connector's own folder is read, whatever path it names. The record is stored without other
// files, with a gap for each.
func TestPathsLeadNowhereElse(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	d, k, dir := filing(t, map[string]string{"inside": "mine", "folder/deep": "mine too"})
	for name, target := range map[string]string{"link": outside, "up": filepath.Dir(outside), "inner": "inside",
		"folder/inner": "../folder", "self": "self"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	paths := []string{"link", "up/secret", outside, "../" + filepath.Base(filepath.Dir(outside)) + "/secret",
		"folder/../../x", "folder/..", ".", "..", "/", "//", "folder", "inner",
		"folder/inner/deep", "self", "pipe", "missing", "inside/x", "a\\u0000b", "inside\\\\x", "/proc/self/environ",
		"/dev/zero", "C:\\\\x", strings.Repeat("x/", 2000)}
	var lines []string
	for _, p := range paths {
		lines = append(lines, threadWith("t1", `[{"field":"id","path":"`+p+`"}]`))
	}
	o := d.say(t, append(lines, `{"type":"STATE","stream":"threads","cursor":{"n":1}}`)...)
	if o.Status != Succeeded {
		t.Fatalf("the run ended as %s: %+v", o.Status, o.Failure)
	}
	if len(k.files) != 0 {
		t.Errorf("read %q", k.files)
	}
	gaps := 0
	for _, s := range d.slices {
		for _, g := range s.Gaps {
			if g.Reason != protocol.ReasonBlobFailed || g.RecordKey != "t1" || !g.Retryable {
				t.Errorf("gap %+v", g)
			}
			gaps++
		}
	}
	if gaps != len(paths) {
		t.Errorf("%d gaps of %d files", gaps, len(paths))
	}
}

// A file that is too large is skipped and reported. A file beyond the limit of the run or the disk becomes a gap.
func TestFilesAreBounded(t *testing.T) {
	for _, c := range []struct {
		limits BlobLimits
		reason protocol.Reason
		kept   int
	}{
		{BlobLimits{Each: 3}, "", 1},
		{BlobLimits{Run: 5}, protocol.ReasonRetryExhausted, 1},
		{BlobLimits{Room: 5}, protocol.ReasonBlobNoRoom, 1},
		{BlobLimits{Each: -1, Run: -1}, "", 2},
	} {
		d, k, _ := filing(t, map[string]string{"small": "abc", "large": "abcdef"})
		d.spec.BlobLimits = c.limits
		o := d.say(t, threadWith("t1", `[{"field":"id","path":"small"},{"field":"id","path":"large"}]`),
			`{"type":"STATE","stream":"threads","cursor":{"n":1}}`)
		if o.Status != Succeeded || len(k.files) != c.kept || len(d.slices[0].Records[0].Blobs) != c.kept {
			t.Errorf("%+v: %s, %d files kept", c.limits, o.Status, len(k.files))
		}
		gaps := d.slices[0].Gaps
		if c.reason != "" && (len(gaps) != 1 || gaps[0].Reason != c.reason) {
			t.Errorf("%+v: gaps %+v", c.limits, gaps)
		}
		reported := false
		for _, g := range o.KnownGaps {
			reported = reported || g.Reason == string(protocol.ReasonBlobTooLarge) && g.Count == 1 &&
				g.Severity == protocol.SeverityInformational
		}
		if reported != (c.limits.Each == 3) || c.reason == "" && len(gaps) > 0 {
			t.Errorf("%+v: known %+v, gaps %+v", c.limits, o.KnownGaps, gaps)
		}
	}
}

// Trouble with what keeps files is trouble with the storage: the run fails, and no record goes ahead of its file.
func TestFileThatCannotBeKept(t *testing.T) {
	d, k, _ := filing(t, map[string]string{"a": "content"})
	k.err = errDiskFull
	o := d.say(t, threadWith("t1", `[{"field":"id","path":"a"}]`), `{"type":"STATE","stream":"threads","cursor":{"n":1}}`)
	if o.Status != Failed || o.Failure.Reason != ReasonStorage {
		t.Fatalf("the run ended as %s: %+v", o.Status, o.Failure)
	}
	for _, s := range d.slices {
		if len(s.Records)+len(s.Cursors) > 0 {
			t.Errorf("committed %+v", s)
		}
	}
}
