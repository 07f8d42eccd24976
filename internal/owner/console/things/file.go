package things

import (
	"cmp"
	"encoding/json"
	"mime"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// FileRef is how the data of a record shows its file.
type FileRef struct {
	SHA256 string `json:"sha256"`
	MIME   string `json:"mime_type"`
	Bytes  int64  `json:"size_bytes"`
}

// File returns the record's file reference. Without a hash only the name is known.
func (t *Thing) File() (f FileRef) {
	_ = json.Unmarshal(t.values[t.In.Role("blob")], &f) // what is none is none
	return f
}

// IsPicture reports whether a small picture can be asked for.
func (t *Thing) IsPicture() bool { f := t.File(); return f.SHA256 != "" && ui.IsPicture(f.MIME) }

// FileName is what the file is called, without the folders that it lay in.
func (t *Thing) FileName() string {
	name := strings.ReplaceAll(t.Line("title", LongestTitle), `\`, "/")
	if base := path.Base(name); name != "" && base != "/" {
		return base
	}
	return "File without a name"
}

// MediaType returns the media type of the file, from the record or from the name's extension.
func (t *Thing) MediaType() string {
	kind, _, _ := strings.Cut(cmp.Or(t.File().MIME, t.Line("media_type", 80),
		mime.TypeByExtension(strings.ToLower(path.Ext(t.FileName())))), ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// SizeWords returns the size of a file, and whether the file is stored.
func (t *Thing) SizeWords() string {
	f := t.File()
	if f.SHA256 == "" {
		return "only its name is kept"
	}
	if n, err := strconv.ParseInt(t.Text("size"), 10, 64); err == nil && f.Bytes == 0 {
		f.Bytes = n
	}
	return text.Bytes(f.Bytes)
}

// KindWords name a kind of file.
func KindWords(mediaType string) string {
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

// Picture is one that can be shown.
type Picture struct {
	Title, Source string
	At            time.Time
	Address       string // of the record beside the page
	Small         string // of the small picture
}

// AltText returns what a picture shows, for those who do not see it.
func (p Picture) AltText(now time.Time) string {
	if p.At.IsZero() {
		return p.Title + ", " + p.Source
	}
	return p.Title + ", " + ui.Moment(p.At, now) + ", " + p.Source
}

// Picture is a file that can be shown small.
func (t *Thing) Picture() Picture {
	one := Picture{Title: t.FileName(), Source: t.In.ConnectionName, Address: t.Address(),
		Small: t.Address() + "/files/" + ui.Segment(t.File().SHA256) + ui.ThumbnailPart}
	if t.At != nil {
		one.At = *t.At
	}
	return one
}

// PictureName is what a picture is called. A name that a camera made is none.
func (t *Thing) PictureName() string {
	name := t.FileName()
	if ending := path.Ext(name); len(ending) > 1 && len(ending) <= 5 {
		name = strings.TrimSuffix(name, ending)
	}
	name = strings.TrimSpace(strings.NewReplacer("_", " ", "-", " ").Replace(name))
	letters := 0
	for _, r := range name {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	lower := strings.ToLower(name)
	camera := slices.ContainsFunc([]string{"img ", "img1", "dsc", "pxl ", "mvimg", "dcim", "screenshot "},
		func(prefix string) bool { return strings.HasPrefix(lower, prefix) })
	if letters < 3 || camera || 2*letters < len([]rune(name)) {
		return "Photo"
	}
	return text.Upper(name)
}
