package browse

import (
	"cmp"
	"encoding/json"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/manifest"
)

var gallery = &view{name: "files", title: "Photos", address: "/photos", most: 60,
	one: "file", many: "files", about: "Pictures, films, documents and voice notes, the newest first.",
	empty: "Pictures, films, documents and voice notes from mail, messages and exports appear here.",
	shows: func(s *stream) bool { return s.kind() == manifest.KindFile }}

// The parts of the page.
const (
	pictures = "pictures"
	others   = "others"
)

// galleryPage is pictures and other files by month.
type galleryPage struct {
	*listing
	Months []galleryMonth
}

// galleryMonth is what a page has of a month.
type galleryMonth struct {
	Name     string
	Pictures []picture
	Files    []fileRow
}

// picture is one that can be shown.
type picture struct {
	Title, Source string
	At            time.Time
	Address       string // of the record beside the page
	Small         string // of the small picture
}

// fileRow is another file.
type fileRow struct {
	Title, Source, Kind string
	Size                string // or that there is nothing but the name
	At                  time.Time
	Address             string
}

func (p *browsePages) files(w http.ResponseWriter, r *http.Request) {
	kind := r.URL.Query().Get("kind")
	l, err := p.list(r, gallery, func(t *thing) bool { return kind == "" || (kind == pictures) == t.isPicture() })
	if err != nil {
		p.ShowFailure(w, r, ui.Section(r), err)
		return
	}
	page := &galleryPage{listing: l}
	for _, k := range []struct{ kind, label string }{{"", "Everything"}, {pictures, "Pictures"}, {others, "Other files"}} {
		page.Kinds = append(page.Kinds,
			facet{Label: k.label, Current: l.kind == k.kind, Address: l.with(func(a *asked) { a.kind = k.kind })})
	}
	page.fill(p.Now())
	p.show(w, r, gallery.title, galleryBody(page, p.Now()))
}

// fill puts the files into months.
func (page *galleryPage) fill(now time.Time) {
	for i := range page.Things {
		t := &page.Things[i]
		at, name := t.when(now), "Without a date"
		if !at.IsZero() {
			name = at.Format("January 2006")
		}
		if n := len(page.Months); n == 0 || page.Months[n-1].Name != name {
			page.Months = append(page.Months, galleryMonth{Name: name})
		}
		month := &page.Months[len(page.Months)-1]
		if t.isPicture() {
			month.Pictures = append(month.Pictures, picture{Title: t.fileName(), Source: t.in.ConnectionName, At: at,
				Address: page.opens(t),
				Small:   t.address() + "/files/" + ui.Segment(t.file().SHA256) + ui.ThumbnailPart})
		} else {
			month.Files = append(month.Files,
				fileRow{Title: t.fileName(), Source: t.in.ConnectionName, Kind: kindWords(t.mediaType()), Size: t.sizeWords(),
					At: at, Address: page.opens(t)})
		}
	}
}

// fileRef is how the data of a record shows its file.
type fileRef struct {
	SHA256 string `json:"sha256"`
	MIME   string `json:"mime_type"`
	Bytes  int64  `json:"size_bytes"`
}

// file returns the record's file reference. Without a hash only the name is known.
func (t *thing) file() (f fileRef) {
	_ = json.Unmarshal(t.values[t.in.role("blob")], &f) // what is none is none
	return f
}

// isPicture reports whether a small picture can be asked for.
func (t *thing) isPicture() bool { f := t.file(); return f.SHA256 != "" && ui.IsPicture(f.MIME) }

// fileName is what the file is called, without the folders that it lay in.
func (t *thing) fileName() string {
	name := strings.ReplaceAll(t.line("title", longestTitle), `\`, "/")
	if base := path.Base(name); name != "" && base != "/" {
		return base
	}
	return "File without a name"
}

// mediaType returns the media type of the file, from the record or from the name's extension.
func (t *thing) mediaType() string {
	kind, _, _ := strings.Cut(cmp.Or(t.file().MIME, t.line("media_type", 80),
		mime.TypeByExtension(strings.ToLower(path.Ext(t.fileName())))), ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// sizeWords returns the size of a file, and whether the file is stored.
func (t *thing) sizeWords() string {
	f := t.file()
	if f.SHA256 == "" {
		return "only its name is kept"
	}
	if n, err := strconv.ParseInt(t.text("size"), 10, 64); err == nil && f.Bytes == 0 {
		f.Bytes = n
	}
	return text.Bytes(f.Bytes)
}

// kindWords name a kind of file.
func kindWords(mediaType string) string {
	family, kind, _ := strings.Cut(mediaType, "/")
	switch {
	case mediaType == "application/pdf":
		return "PDF"
	case family == "image":
		return "Picture, " + kind
	case family == "video":
		return "Video"
	case family == "audio":
		return "Sound"
	case family == "text":
		return "Text"
	case mediaType == "" || kind == "octet-stream":
		return "File"
	}
	return kind
}
