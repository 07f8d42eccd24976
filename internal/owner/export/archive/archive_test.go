package archive

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// heldOwner has two streams in memory: notes, and pictures with a file.
type heldOwner struct {
	api.Owner
	records map[string][]api.Record
	lost    bool // the server has lost the files
	broken  bool // the server ends within a file
	gone    string
}

var changed = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

const fileHash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // of abc

func newOwner() *heldOwner {
	o := &heldOwner{records: map[string][]api.Record{}}
	for i := range 450 {
		o.hold("notes", fmt.Sprintf("n%03d", i), fmt.Sprintf(
			`{"id":"n%03d","title":"Plums %d","text":"<script>alert(%d)</script>","at":"2026-03-%02dT10:00:00Z"}`,
			i, i, i, i%28+1))
	}
	o.hold("pictures", "p1", `{"id":"p1","blob_ref":{"sha256":"`+fileHash+`"}}`)
	o.hold("pictures", "p2", `{"id":"p2","blob_ref":{"sha256":"../../../../etc/passwd"}}`)
	return o
}

func (o *heldOwner) hold(stream, key, data string) {
	o.records[stream] = append(o.records[stream], api.Record{ConnectionID: "cin_one", Stream: stream, Key: key,
		Data: json.RawMessage(data), EmittedAt: changed, ChangedAt: changed, Version: 1})
}

func (o *heldOwner) Streams(context.Context, string) ([]api.Stream, error) {
	all := []api.Stream{
		{ConnectionID: "cin_one", ConnectionName: "My | notes", Name: "notes", Label: "Notes", LastSeq: 450,
			Fields: []string{"id", "title", "text"}, Display: api.Display{Kind: "document", Roles: map[string]string{
				"title": "title", "text": "text", "time": "at"}}},
		{ConnectionID: "cin_one", ConnectionName: "My | notes", Name: "pictures", Label: "Pictures", LastSeq: 2,
			Display: api.Display{Kind: "file", Roles: map[string]string{"blob": "blob_ref"}}},
	}
	return slices.DeleteFunc(all, func(s api.Stream) bool { return s.Name == o.gone }), nil
}

func (o *heldOwner) Export(_ context.Context, w io.Writer, q api.ExportQuery) error {
	for _, r := range o.records[q.Stream] {
		body, err := json.Marshal(r)
		if err != nil {
			return err
		}
		if _, err := w.Write(append(body, '\n')); err != nil {
			return err
		}
	}
	return nil
}

func (o *heldOwner) Records(_ context.Context, q api.RecordQuery) (api.RecordPage, error) {
	c := &api.Completeness{Whole: "no", AsOf: &changed}
	if q.Stream == "notes" {
		c.Whole = "yes"
	}
	return api.RecordPage{Completeness: c}, nil
}

func (o *heldOwner) CopyFile(_ context.Context, w io.Writer, hash string) error {
	if o.broken {
		return errors.New("the connection ended")
	}
	if o.lost || hash != fileHash {
		return api.NotFound("There is no such file.", "")
	}
	_, err := io.WriteString(w, "abc")
	return err
}

var testKey = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))

func makeTest(t *testing.T, o api.Owner, place string) Manifest {
	t.Helper()
	made, err := Maker{Owner: o, Key: testKey}.Make(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func verified(t *testing.T, place string) []string {
	t.Helper()
	v, err := Verify(place, "")
	if err != nil {
		t.Fatal(err)
	}
	return v.Problems
}

func TestArchive(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "all")
	made := makeTest(t, newOwner(), folder)
	if p := verified(t, folder); len(p) > 0 || made.Records != 452 {
		t.Errorf("%d records, problems %q", made.Records, p)
	}
	report, err := os.ReadFile(filepath.Join(folder, "completeness.md"))
	if err != nil || !strings.Contains(string(report), `| My \| notes | Notes | 450 | yes | 2026-03-04 05:06 UTC |`) {
		t.Errorf("report %s, %v", report, err)
	}
	if file, err := os.ReadFile(filepath.Join(folder, "files", "ba", fileHash)); err != nil || string(file) != "abc" {
		t.Errorf("file %q, %v", file, err)
	}
	texts, err := os.ReadDir(filepath.Join(folder, "texts", "cin_one", "notes"))
	if err != nil || len(texts) != 450 {
		t.Errorf("%d texts, %v", len(texts), err)
	}
	part, err := os.ReadFile(filepath.Join(folder, "viewer", "0-2.js"))
	if err != nil || bytes.Contains(part, []byte("<script")) || !bytes.HasPrefix(part, []byte("pdppPart(0,2,[{")) {
		t.Errorf("part %.80s, %v", part, err)
	}
}

// The page requests nothing but the files beside it.
func TestViewerIsOffline(t *testing.T) {
	t.Parallel()
	online := regexp.MustCompile(`https?:|//[a-z]|fetch\(|XMLHttp|innerHTML|document\.write|eval\(`)
	if found := online.Find(viewerPage); found != nil {
		t.Errorf("the page has %q", found)
	}
	if !bytes.Contains(viewerPage, []byte("default-src 'none'")) {
		t.Error("the page has no policy")
	}
}

func TestEqualRecordsMakeEqualBytes(t *testing.T) {
	t.Parallel()
	var files [2][]byte
	for i := range files {
		place := filepath.Join(t.TempDir(), "all.zip")
		makeTest(t, newOwner(), place)
		var err error
		if files[i], err = os.ReadFile(place); err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadDir(filepath.Dir(place)); err != nil || len(left) != 1 {
			t.Errorf("%d files are left, %v", len(left), err)
		}
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("the files differ")
	}
}

// An archive that continues has nothing of what was deleted in between, and no part of a file.
func TestContinuedArchive(t *testing.T) {
	t.Parallel()
	for _, gone := range []string{"", "notes", "pictures"} {
		o, folder := newOwner(), t.TempDir()
		continued, fresh := filepath.Join(folder, "continued.zip"), filepath.Join(folder, "fresh.zip")
		o.broken = true
		if _, err := (Maker{Owner: o, Key: testKey}).Make(t.Context(), continued); err == nil {
			t.Fatal("it did not break")
		}
		o.broken = false
		if gone != "" { // the files came, and then the stream went
			if _, err := (Maker{Owner: o, Key: testKey}).fill(t.Context(), continued+".part"); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"records/cin_one/notes.jsonl.part", "files/ba/x.part", "viewer/9-9.js"} {
			if err := os.MkdirAll(filepath.Join(continued+".part", filepath.Dir(name)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(continued+".part", name), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		o.gone = gone
		makeTest(t, o, continued)
		makeTest(t, o, fresh)
		got, err := os.ReadFile(continued)
		if err != nil {
			t.Fatal(err)
		}
		if want, err := os.ReadFile(fresh); err != nil || !bytes.Equal(got, want) {
			t.Errorf("without %q: %s\nwant %s, %v", gone, contents(t, got), contents(t, want), err)
		}
	}
}

func TestDifferencesAreFound(t *testing.T) {
	t.Parallel()
	o := newOwner()
	for name, c := range map[string]struct {
		change func(folder string) error
		want   string
	}{
		"a flipped byte": {func(f string) error { return flip(filepath.Join(f, "records/cin_one/notes.jsonl"), 100) },
			`"records/cin_one/notes.jsonl" has changed`},
		"a flipped byte of a file": {func(f string) error { return flip(filepath.Join(f, "files/ba", fileHash), 1) },
			`"files/ba/` + fileHash + `" has changed`},
		"a missing file": {func(f string) error { return os.Remove(filepath.Join(f, "index.html")) },
			`"index.html" is missing`},
		"an extra file": {func(f string) error { return os.WriteFile(filepath.Join(f, "files/x"), nil, 0o600) },
			`"files/x" is not in the manifest`},
		"a link": {func(f string) error { return os.Symlink("index.html", filepath.Join(f, "link")) },
			`"link" does not belong to the archive`},
		"another manifest": {func(f string) error {
			path := filepath.Join(f, manifestFile)
			body, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(path, bytes.Replace(body, []byte(`"Notes"`), []byte(`"Nodes"`), 1), 0o600)
		}, "manifest.json has changed since it was signed"},
		"no signature": {func(f string) error { return os.Remove(filepath.Join(f, signatureFile)) },
			"manifest.note cannot be read"},
		"no manifest": {func(f string) error { return os.Remove(filepath.Join(f, manifestFile)) },
			"manifest.json cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join(t.TempDir(), "all")
			makeTest(t, o, folder)
			if err := c.change(folder); err != nil {
				t.Fatal(err)
			}
			if p := verified(t, folder); !slices.Contains(p, c.want) {
				t.Errorf("problems %q, want %q", p, c.want)
			}
		})
	}
}

func flip(path string, at int) error {
	body, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	body[at] ^= 1
	return os.WriteFile(path, body, 0o600)
}

// A signature of another key is refused when the owner names theirs.
func TestOtherSigner(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "all")
	makeTest(t, newOwner(), folder)
	_, other, err := note.GenerateKey(nil, "test")
	if err != nil {
		t.Fatal(err)
	}
	v, err := Verify(folder, other)
	if err != nil || len(v.Problems) != 1 || !strings.HasPrefix(v.Problems[0], "the signature is not one of the key") {
		t.Errorf("problems %q, %v", v.Problems, err)
	}
}

// Whatever byte of a zip file flips, the archive is refused or has every file unchanged.
//
//pdpp:tier unraced
func TestFlippedZip(t *testing.T) {
	t.Parallel()
	place := filepath.Join(t.TempDir(), "all.zip")
	makeTest(t, newOwner(), place)
	if p := verified(t, place); len(p) > 0 {
		t.Fatalf("problems %q", p)
	}
	whole, err := os.ReadFile(place)
	if err != nil {
		t.Fatal(err)
	}
	want := contents(t, whole)
	changed := filepath.Join(t.TempDir(), "changed.zip")
	refused := 0
	for at := 0; at < len(whole); at += 9973 {
		body := bytes.Clone(whole)
		body[at] ^= 0x10
		if err := os.WriteFile(changed, body, 0o600); err != nil {
			t.Fatal(err)
		}
		v, err := Verify(changed, "")
		if err != nil || len(v.Problems) > 0 {
			refused++
			continue
		}
		if got := contents(t, body); got != want {
			t.Errorf("byte %d is flipped, and nothing is found", at)
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
}

func contents(t *testing.T, file []byte) string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	tree := newZipTree(z.File)
	names, _, _ := tree.names()
	for _, name := range names {
		_, sum, err := hashFile(tree, name)
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(name + " " + sum + "\n")
	}
	return all.String()
}

// A file that the server has lost is listed, and the rest is there.
func TestLostFile(t *testing.T) {
	t.Parallel()
	o := newOwner()
	o.lost = true
	folder := filepath.Join(t.TempDir(), "all")
	makeTest(t, o, folder)
	if list, err := os.ReadFile(filepath.Join(folder, "files", "missing.txt")); err != nil ||
		string(list) != fileHash+"\n" {
		t.Errorf("list %q, %v", list, err)
	}
	if p := verified(t, folder); len(p) > 0 {
		t.Errorf("problems %q", p)
	}
}
