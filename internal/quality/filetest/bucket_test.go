//pdpp:tier programs

package filetest

import (
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/pdpp-go/pdpp/internal/storage/store/postgres/postgrestest"
)

// TestAttachmentsInABucket: one machine collects, another one answers, and neither keeps a file of its
// own. Deleting empties the bucket. A bucket without PostgreSQL, and one that cannot be named, are reported.
func TestAttachmentsInABucket(t *testing.T) {
	t.Parallel()
	backend := s3mem.New()
	if err := backend.CreateBucket("life"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	defer server.Close()
	const user = "mara-bucket"
	deliver(t, user,
		letter("small", attached{"map.pdf", "application/pdf", noise(3, 40_000)},
			attached{"notes.txt", "text/plain", noise(6, 500)}),
		letter("long", attached{"longer.mov", "video/quicktime", noise(5, 300_000)}))
	shared := []string{
		"PDPP_DATABASE_URL=" + postgrestest.NewDatabase(t), "PDPP_BLOBS_URL=s3://life/mara?endpoint=" + server.URL,
		"AWS_ACCESS_KEY_ID=harbour", "AWS_SECRET_ACCESS_KEY=harbour-secret", "PDPP_CREDENTIAL_ENCRYPTION_KEY=" +
			strings.Repeat("ab", 32),
	}
	collects, answers := newHouse(t, shared...), newHouse(t, shared...)
	collects.mail(user)
	answers.mail(user)
	truth := inMaildir(t, user)
	collects.pdpp("run", "imap", "--json")
	answers.serve()
	answers.holds(answers.grant("imap/attachments"),
		answers.grant("imap/attachments:id,file_name,size_bytes", "imap/messages"), truth, 25<<20)
	if out := answers.pdpp("doctor", "--json"); !strings.Contains(out, "files of records are there") {
		t.Errorf("the doctor says %s", out)
	}
	for _, want := range truth {
		if got := answers.pdpp("file", hashOf(want.content)); got != string(want.content) {
			t.Errorf("%s has %d bytes, want %d", want.name, len(got), len(want.content))
		}
		objects, err := backend.HeadObject("life", "mara/"+hashOf(want.content)[:2]+"/"+hashOf(want.content))
		if err != nil || objects.Size != int64(len(want.content)) {
			t.Errorf("%s is not in the bucket: %v", want.name, err)
		}
	}
	for _, h := range []*house{collects, answers} {
		left, err := filepath.Glob(filepath.Join(h.home, "blobs", "*", "*"))
		if err != nil || len(left) > 0 {
			t.Errorf("kept on the machine: %q, %v", left, err)
		}
	}

	// What the owner deletes for good is gone from the bucket when the command ends, and nothing else is.
	if _, err := backend.PutObject("life", "other/keepsake", nil, strings.NewReader("stays"), 5, nil); err != nil {
		t.Fatal(err)
	}
	if out := collects.pdpp("delete", "imap", "--yes", "--now"); !strings.Contains(out, "Deleted for good") {
		t.Errorf("deleted as %s", out)
	}
	left, err := backend.ListBucket("life", nil, gofakes3.ListBucketPage{})
	if err != nil || len(left.Contents) != 1 || left.Contents[0].Key != "other/keepsake" {
		t.Errorf("left in the bucket: %+v, %v", left, err)
	}

	alone := newHouse(t, slices.DeleteFunc(slices.Clone(shared),
		func(v string) bool { return strings.HasPrefix(v, "PDPP_DATABASE_URL=") })...)
	if _, message, err := alone.try("run", "example"); err == nil ||
		!strings.Contains(message, "PDPP_BLOBS_URL needs a PostgreSQL") {
		t.Errorf("without PostgreSQL: %v, %s", err, message)
	}
	nowhere := newHouse(t, append(slices.Clone(shared), "PDPP_BLOBS_URL=life")...)
	if _, text, err := nowhere.try("run", "example"); err == nil || !strings.Contains(text, "names no bucket") ||
		strings.Contains(text, "harbour-secret") {
		t.Errorf("no bucket: %v, %s", err, text)
	}
}
