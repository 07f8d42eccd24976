package admin

import (
	"net/http"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// A record's page lists its files, with names escaped as text. Files are served as attachments
// that no browser renders as a page, whatever type their source declares.
func TestFilesOfARecord(t *testing.T) {
	t.Parallel()
	o := mara()
	hash := strings.Repeat("ab", 32)
	o.record.ConnectionID, o.record.Stream = "cin_kelp_1", "letters"
	o.record.Files = []api.File{
		{SHA256: hash, Bytes: 20_000, Field: "body", MIME: "text/html", Name: `<script>alert(1)</script>.html`},
		{SHA256: strings.Repeat("cd", 32), Bytes: 1, Field: "body", MIME: "image/svg+xml"},
	}
	h := world(t, o)
	address := "/thing/cin_kelp_1/letters/" + ui.Segment(o.record.Key)
	p := get(t, h, address)
	p.says(t, "Files", "<script>alert(1)</script>.html", "19.5 KiB, text/html", "File without a name",
		"1 byte, image/svg+xml")
	if body := p.Body.String(); strings.Contains(body, "<script>alert") ||
		!strings.Contains(body, address+"/files/"+hash) {
		t.Errorf("the page has %s", body)
	}
	for i, want := range []string{`attachment; filename="<script>alert(1)</script>.html"`, "attachment; filename=" +
		strings.Repeat("cd", 32)} {
		p := get(t, h, address+"/files/"+o.record.Files[i].SHA256)
		header := p.Header()
		if p.Code != http.StatusOK || p.Body.String() != "content of "+o.record.Files[i].SHA256 ||
			header.Get("Content-Disposition") != want {
			t.Errorf("%d, %q as %q", p.Code, p.Body, header.Get("Content-Disposition"))
		}
		if header.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.HasPrefix(header.Get("Content-Security-Policy"), "sandbox") ||
			header.Get("Content-Type") != o.record.Files[i].MIME {
			t.Errorf("headers %v", header)
		}
	}
	if p := get(t, h, address+"/files/"+strings.Repeat("ef", 32)); p.Code != http.StatusNotFound ||
		p.Header().Get("Content-Disposition") != "" {
		t.Errorf("a file of another record answers %d", p.Code)
	}
	o.fails["CopyFile"] = &api.Error{Status: 500, Code: "file_missing",
		Message: "The file of this record is not where files are kept.", Next: "Look."}
	if p := get(t, h, address+"/files/"+hash); p.Code != http.StatusInternalServerError ||
		p.Header().Get("Content-Disposition") != "" {
		t.Errorf("a file that is gone answers %d as %q", p.Code, p.Header().Get("Content-Disposition"))
	}
}
