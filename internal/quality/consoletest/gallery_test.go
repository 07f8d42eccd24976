package consoletest

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/owner/console"
	"github.com/pdpp-go/pdpp/internal/owner/thumbnail"
	"github.com/pdpp-go/pdpp/internal/slice"
)

// drawn is a picture of two colours.
func drawn(n int) image.Image {
	m := image.NewRGBA(image.Rect(0, 0, 320, 240))
	for y := range 240 {
		for x := range 320 {
			shade := color.RGBA{uint8(60 + n*23), uint8(120 + n*11), 190, 255}
			if y > 120+(x-160)*(n%5-2)/6 {
				shade = color.RGBA{40, uint8(90 + n*9), 70, 255}
			}
			m.SetRGBA(x, y, shade)
		}
	}
	return m
}

// keeps stores a file and returns the blob with its reference for a record.
func (h *household) keeps(mime, name string, content []byte) (slice.Blob, string) {
	h.t.Helper()
	hash, n, err := h.blobs.Put(h.t.Context(), bytes.NewReader(content))
	h.must(err)
	return slice.Blob{SHA256: hash, Bytes: n, Field: "blob_ref", MIME: mime, Name: name},
		fmt.Sprintf(`{"blob_id":%q,"mime_type":%q,"sha256":%q,"size_bytes":%d}`, hash, mime, hash, n)
}

// shows fills the household with pictures, files and things that only call themselves so.
func (h *household) shows() {
	var photos, attached []slice.Record
	file := func(into *[]slice.Record, stream, key, format, at, mime, name string, content []byte) {
		r := record(stream, key, "")
		ref := "null"
		if content != nil {
			var b slice.Blob
			b, ref = h.keeps(mime, name, content)
			r.Blobs = []slice.Blob{b}
		}
		r.Data = fmt.Appendf(nil, format, key, at, name, ref, mime)
		*into = append(*into, r)
	}
	const photo, attachment = `{"id":%q,"event_time":%q,"title":%q,"blob_ref":%s,"filename":%q}`,
		`{"id":%q,"message_id":"e1","received_at":%q,"file_name":%q,"blob_ref":%s,"content_type":%q}`
	for i := range 8 {
		var body bytes.Buffer
		h.must(jpeg.Encode(&body, drawn(i), nil))
		file(&photos, "photos", fmt.Sprint("p", i), photo, today.AddDate(0, 0, -i*6).Format(time.RFC3339), "image/jpeg",
			fmt.Sprintf("IMG_04%02d.jpeg", i), body.Bytes())
	}
	var body bytes.Buffer
	h.must(png.Encode(&body, drawn(9)))
	file(&photos, "photos", "scan", photo, "2026-03-02T10:00:00Z", "image/png", "scan of the deed.png", body.Bytes())
	file(&photos, "photos", "bomb", photo, "2026-03-02T09:00:00Z", "image/png", "bomb.png",
		[]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00\xea\x60\x00\x00\xea\x60\x08\x06\x00\x00\x00\x18\x3f\x5c\x40"))
	file(&photos, "photos", "named", photo, "2026-01-11T09:00:00Z", "", "holiday.mov", nil)
	h.collects("google_takeout", "Google", nil, photos...)
	file(&attached, "attachments", "a1", attachment, "2026-03-09T10:04:00Z", "application/pdf",
		"Berth 41, fee for the season.pdf", []byte("%PDF-1.7"))
	file(&attached, "attachments", "a2", attachment, "2026-03-08T10:04:00Z", "image/svg+xml", "logo.svg",
		[]byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`))
	file(&attached, "attachments", "a3", attachment, "2026-03-08T10:04:00Z", "text/html",
		`<b onclick="alert(1)">invoice.html`, []byte(`<script>alert(1)</script>`))
	h.collects("imap", "Gmail", nil, attached...)
}

const galleryAt = "/photos"

// Pictures appear as thumbnails made by a child process, and other files by name. No file content
// is executed.
func TestGallery(t *testing.T) {
	t.Parallel()
	bin, err := installed()
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	h := newHousehold(t, func(originals blob.Storage) console.Pictures {
		return thumbnail.New(thumbnail.Config{Program: filepath.Join(bin, "pdpp"), Originals: originals, Folder: t.TempDir(),
			Now: time.Now, Log: log})
	})
	h.shows()
	srv := httptest.NewServer(h.handler)
	t.Cleanup(srv.Close)
	b := open(t, srv.URL)
	b.visit(galleryAt)
	b.until(`[...document.querySelectorAll(".photos img")].length === 10 && ` +
		`[...document.querySelectorAll(".photos img")]` +
		`.every(i => { i.loading = "eager"; return i.complete && i.naturalWidth > 0 })`)
	b.shoot("gallery")
	for key, want := range map[string]string{"p0": "image/jpeg", "scan": "image/jpeg", "bomb": "image/svg+xml"} {
		src := eval[string](b, `document.querySelector('.photos img[src*="/`+key+`/"]').src`)
		answer := h.get(strings.TrimPrefix(src, srv.URL))
		if got := answer.Header(); got.Get("Content-Type") != want || got.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.Contains(got.Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("%s: %v", key, got)
		}
	}
	b.click(`.photos a[title="IMG_0402.jpeg"]`)
	b.wait(".photo")
	b.until(`document.querySelector(".photo > img").naturalWidth > 0`)
	b.shoot("photo")
	b.click(".photo [rel=next]")
	b.until(`document.querySelector(".photo h1")?.innerText !== "IMG_0402.jpeg"`)
	b.click(".photo [rel=prev]")
	b.until(`document.querySelector(".photo h1")?.innerText === "IMG_0402.jpeg"`)
	b.click("[data-close]")
	b.until(`location.pathname === "/photos"`)
	b.quiet()
}

// The gallery lists pictures and files, and filters them by kind and source. It serves no thumbnail
// of a file that does not belong to the record.
func TestGalleryReads(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	if body := h.get(galleryAt).Body.String(); !strings.Contains(body, "appear here") {
		t.Error("an empty page says nothing")
	}
	h.shows()
	whole := h.get(galleryAt).Body.String()
	for _, want := range []string{"14 files from Google and Gmail", "March 2026", "January 2026",
		"Video, only its name is kept", "PDF, 8 bytes", "Picture, svg+xml",
		`&lt;b onclick=&#34;alert(1)&#34;&gt;invoice.html`} {
		if !strings.Contains(whole, want) {
			t.Errorf("nothing says %q", want)
		}
	}
	for kind, want := range map[string][2]int{"pictures": {10, 0}, "others": {0, 4}} {
		body := h.get(galleryAt + "?kind=" + kind).Body.String()
		if got := [2]int{strings.Count(body, `href="/photos/cin_`), strings.Count(body, "data-item")}; got != want {
			t.Errorf("%s: %v", kind, got)
		}
	}
	if body := h.get(galleryAt + "?source=cin_imap_1").Body.String(); strings.Contains(body, "IMG_") ||
		!strings.Contains(body, "Berth 41") {
		t.Error("another source is among those of one")
	}
	hash := strings.Repeat("0", 64)
	for address, want := range map[string]int{
		"/thing/cin_google_takeout_1/photos/p0/files/" + hash + "/thumbnail":   404, // not of this record
		"/thing/cin_google_takeout_1/photos/none/files/" + hash + "/thumbnail": 404,
		galleryAt + "?until=soon&skip=x":                                       200,
		galleryAt + "?undated=cin_imap_1/attachments":                          404,
		galleryAt + "?record=x":                                                404,
		galleryAt + "/cin_google_takeout_1/photos/p0":                          200,
		galleryAt + "/cin_google_takeout_1/photos/none":                        404,
		galleryAt + "/cin_imap_1/messages/e1":                                  404,
		galleryAt + "/~!/x/y":                                                  404,
	} {
		if got := h.get(address).Code; got != want {
			t.Errorf("%s: %d, want %d", address, got, want)
		}
	}
}

// Every file is on one page, however many are of one moment and however many sources there are.
func TestGalleryHasEveryFileOnce(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	var photos, attached []slice.Record
	for i := range 230 {
		at := today.AddDate(0, 0, -i/40).Format(time.DateOnly) + "T10:00:00Z"
		photos = append(photos, record("photos", fmt.Sprintf("p%03d", i),
			fmt.Sprintf(`{"id":"p%03d","event_time":%q,"title":"p%03d.jpg"}`, i, at, i)))
		attached = append(attached,
			record("attachments", fmt.Sprintf("a%03d", i), fmt.Sprintf(`{"id":"a%03d","received_at":%q,"file_name":"a%03d.pdf"}`,
				i, at, i)))
	}
	h.collects("google_takeout", "Google", nil, photos...)
	h.collects("imap", "Gmail", nil, attached...)
	seen := map[string]int{}
	address := galleryAt
	for pages := 0; address != ""; pages++ {
		if pages == 20 {
			t.Fatal("the pages do not end")
		}
		body := h.get(address).Body.String()
		for part := range strings.SplitSeq(body, `data-item`) {
			if _, rest, found := strings.Cut(part, `#record">`); found {
				name, _, _ := strings.Cut(rest, "<")
				seen[name]++
			}
		}
		_, rest, _ := strings.Cut(body, `rel="next" href="`)
		address, _, _ = strings.Cut(rest, `"`)
		address = strings.ReplaceAll(address, "&amp;", "&")
	}
	if len(seen) != 460 {
		t.Errorf("%d files of 460", len(seen))
	}
	for name, n := range seen {
		if n != 1 {
			t.Errorf("%s came %d times", name, n)
		}
	}
}
