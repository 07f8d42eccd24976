package filetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// listedFile is a record's file as the API lists it.
type listedFile struct {
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
	Field  string `json:"field"`
	MIME   string `json:"mime"`
	Name   string `json:"name"`
}

// listed is a record as a reader gets it.
type listed struct {
	ID   string `json:"id"`
	Data struct {
		ID     string `json:"id"`
		Status string `json:"hydration_status"`
		Ref    *struct {
			SHA256 string `json:"sha256"`
		} `json:"blob_ref"`
	} `json:"data"`
	Blobs []listedFile `json:"blobs"`
}

// attachments reads all attachments that a token may see, by their keys.
func (h *house) attachments(token string) map[string]listed {
	h.t.Helper()
	status, _, body := h.get(token, "/v1/streams/attachments/records?limit=100")
	var page struct {
		Data []listed `json:"data"`
	}
	if err := json.Unmarshal(body, &page); err != nil || status != http.StatusOK {
		h.t.Fatalf("%d %v: %s", status, err, body)
	}
	out := map[string]listed{}
	for _, r := range page.Data {
		out[r.Data.ID] = r
	}
	return out
}

func hashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// TestAttachments follows attachments from a real mail server, through the shipped programs, to
// authorized readers. A file above the owner's size limit is left out and reported, and is
// collected once the limit is raised. Files that do not fit into a run come with the next one. A
// file of 20 MiB passes. Every byte is compared with the server's own files.
func TestAttachments(t *testing.T) {
	t.Parallel()
	const user = "mara-files"
	deliver(t, user,
		letter("small", attached{"map.pdf", "application/pdf", noise(3, 40_000)},
			attached{"page.html", "text/html", []byte("<script>alert(1)</script>")},
			attached{"empty.bin", "application/octet-stream", nil}, attached{"Übersicht 1.png", "image/png", noise(4, 4096)}),
		letter("again", attached{"map copy.pdf", "application/pdf", noise(3, 40_000)}),
		letter("long", attached{"longer.mov", "video/quicktime", noise(5, 100_000)}))
	h := newHouse(t)
	h.mail(user)
	truth, usual := inMaildir(t, user), h.env
	bounded := func(each, run int) {
		h.env = append(usual[:len(usual):len(usual)], fmt.Sprintf("PDPP_MAX_BLOB_BYTES=%d", each),
			fmt.Sprintf("PDPP_MAX_RUN_BLOB_BYTES=%d", run))
	}

	bounded(1<<16, 41_000)
	if message := h.pdpp("run", "imap", "--json"); !strings.Contains(message, "blob_too_large") {
		t.Errorf("no message about the file that was left out: %s", message)
	}
	if missing := h.missing(); len(missing) == 0 {
		t.Error("what had no room in the run is not declared")
	} else {
		for _, key := range missing {
			if _, there := truth[key]; !there {
				t.Errorf("%s is declared missing", key)
			}
		}
	}
	bounded(1<<16, 1<<30)
	h.pdpp("run", "imap", "--json")
	if missing := h.missing(); len(missing) > 0 {
		t.Errorf("still missing: %q", missing)
	}
	h.serve()
	reader := h.grant("imap/attachments")
	narrow := h.grant("imap/attachments:id,file_name,size_bytes", "imap/messages", "imap/bodies")
	h.holds(reader, narrow, truth, 1<<16)

	// A lost file is reported, and is restored when its source is read again.
	hash := hashOf(noise(3, 40_000))
	if err := os.Remove(filepath.Join(h.home, "blobs", hash[:2], hash)); err != nil {
		t.Fatal(err)
	}
	if status, _, _ := h.get(reader, "/v1/blobs/"+hash); status != http.StatusInternalServerError {
		t.Errorf("a file that is gone answers %d", status)
	}
	if out, _, err := h.try("doctor", "--json"); err == nil || !strings.Contains(out, hash) {
		t.Errorf("the doctor says %v: %s", err, out)
	}
	h.pdpp("run", "imap", "--full-refresh", "--json")
	if out, _, _ := h.try("doctor", "--json"); strings.Contains(out, hash) ||
		!strings.Contains(out, "files of records are there") {
		t.Errorf("the doctor still says %s", out)
	}
	h.holds(reader, narrow, truth, 1<<16)

	h.env = usual
	large := noise(1, 20<<20)
	deliver(t, user, letter("large", attached{"film.mov", "video/quicktime", large}))
	h.pdpp("run", "imap", "--json")
	truth = inMaildir(t, user)
	h.holds(reader, narrow, truth, 25<<20)
	status, _, part := h.get(reader, "/v1/blobs/"+hashOf(large), "Range", fmt.Sprintf("bytes=%d-", len(large)-1000))
	if status != http.StatusPartialContent || !bytes.Equal(part, large[len(large)-1000:]) {
		t.Errorf("the end of the large one: %d with %d bytes", status, len(part))
	}
	h.owns(truth)
}

// owns demands that the owner gets files as the mail server has them: by a command here, by one that
// asks the server, and on the record's page.
func (h *house) owns(truth map[string]attached) {
	t := h.t
	t.Helper()
	var made struct {
		Secret string `json:"secret"`
	}
	if err := json.Unmarshal([]byte(h.pdpp("tokens", "create", "Files", "--json")), &made); err != nil ||
		made.Secret == "" {
		t.Fatalf("a token: %v", err)
	}
	away := &house{t: t, env: []string{"HOME=" + t.TempDir(), "PDPP_SERVER=" + h.url, "PDPP_TOKEN=" + made.Secret}}
	window := h.signIn()
	for key, want := range truth {
		if want.kind == "application/pdf" || len(want.content) == 0 {
			continue // as the others
		}
		hash, path := hashOf(want.content), filepath.Join(t.TempDir(), "file")
		shown := h.pdpp("record", "attachments", key, "--connection", "imap")
		if !strings.Contains(shown, hash) || !strings.Contains(shown, want.name) {
			t.Errorf("%s is shown as %s", key, shown)
		}
		if want.kind == "video/quicktime" {
			h.pdpp("file", hash, "-o", path)
			h.same(path, want.content)
			continue
		}
		if here := h.pdpp("file", hash); here != string(want.content) {
			t.Errorf("%s: standard output has %d bytes, want %d", want.name, len(here), len(want.content))
		}
		away.pdpp("file", hash, "-o", path, "--json")
		h.same(path, want.content)
		status, header, content := window("/thing/cin_imap_1/attachments/~" +
			base64.RawURLEncoding.EncodeToString([]byte(key)) + "/files/" + hash)
		if status != http.StatusOK || !bytes.Equal(content, want.content) ||
			!strings.HasPrefix(header.Get("Content-Disposition"), "attachment") ||
			header.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.HasPrefix(header.Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("%s on its page: %d with %d bytes, %v", want.name, status, len(content), header)
		}
	}
}

func (h *house) same(path string, want []byte) {
	h.t.Helper()
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		h.t.Errorf("the file has %d bytes, want %d: %v", len(got), len(want), err)
	}
}

// missing are the keys of what is declared as missing.
func (h *house) missing() (keys []string) {
	h.t.Helper()
	var gaps struct {
		Gaps []struct {
			Stream    string `json:"stream"`
			RecordKey string `json:"record_key"`
		} `json:"gaps"`
	}
	out := h.pdpp("gaps", "--json")
	if err := json.Unmarshal([]byte(out), &gaps); err != nil {
		h.t.Fatalf("%v: %s", err, out)
	}
	for _, g := range gaps.Gaps {
		if g.Stream != "attachments" {
			h.t.Errorf("something of %s is missing: %s", g.Stream, g.RecordKey)
		}
		keys = append(keys, g.RecordKey)
	}
	return keys
}

// holds demands that a reader gets every file up to a size as the mail server has it, and that who may
// read the rest of the records gets none.
func (h *house) holds(reader, narrow string, truth map[string]attached, most int) {
	t := h.t
	t.Helper()
	got := h.attachments(reader)
	if len(got) != len(truth) {
		t.Fatalf("%d attachments are listed, the mail server has %d", len(got), len(truth))
	}
	for key, want := range truth {
		r, hash := got[key], hashOf(want.content)
		if len(want.content) > most {
			if status, _, _ := h.get(reader, "/v1/blobs/"+hash); status != http.StatusNotFound || r.Data.Status != "too_large" ||
				r.Data.Ref != nil || len(r.Blobs) != 0 {
				t.Errorf("%s: %d, %+v", key, status, r)
			}
			continue
		}
		if len(r.Blobs) != 1 || r.Data.Status != "hydrated" || r.Data.Ref == nil || r.Data.Ref.SHA256 != hash {
			t.Errorf("%s (%s): %+v", key, want.name, r)
			continue
		}
		if f := r.Blobs[0]; f.SHA256 != hash || f.Bytes != int64(len(want.content)) || f.Name != want.name ||
			f.MIME != want.kind || f.Field != "blob_ref" {
			t.Errorf("%s: its file is told as %+v", key, f)
		}
		status, header, content := h.get(reader, "/v1/blobs/"+hash)
		if status != http.StatusOK || !bytes.Equal(content, want.content) {
			t.Errorf("%s: %d with %d bytes, want %d", key, status, len(content), len(want.content))
		}
		if !strings.HasPrefix(header.Get("Content-Disposition"), "attachment") ||
			header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", key, header)
		}
		if status, _, _ := h.get(narrow, "/v1/blobs/"+hash); status != http.StatusNotFound {
			t.Errorf("%s: who may not see the file gets %d", key, status)
		}
	}
	for key, r := range h.attachments(narrow) {
		if len(r.Blobs) != 0 {
			t.Errorf("%s: who may not see the file is told %+v", key, r.Blobs)
		}
	}
}
