package browse

import (
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/console/things"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/manifest"
)

var gallery = &view{name: "files", title: "Photos", address: "/photos", most: 60,
	one: "file", many: "files", about: "Pictures, films, documents and voice notes, the newest first.",
	empty: "Pictures, films, documents and voice notes from mail, messages and exports appear here.",
	shows: func(s *things.Stream) bool { return s.Kind() == manifest.KindFile }}

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
	Pictures []things.Picture
	Files    []fileRow
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
	l, err := p.list(r, gallery, func(t *things.Thing) bool { return kind == "" || (kind == pictures) == t.IsPicture() })
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
		at, name := t.When(now), "Without a date"
		if !at.IsZero() {
			name = at.Format("January 2006")
		}
		if n := len(page.Months); n == 0 || page.Months[n-1].Name != name {
			page.Months = append(page.Months, galleryMonth{Name: name})
		}
		month := &page.Months[len(page.Months)-1]
		if t.IsPicture() {
			month.Pictures = append(month.Pictures, things.Picture{Title: t.FileName(), Source: t.In.ConnectionName, At: at,
				Address: page.opens(t),
				Small:   t.Address() + "/files/" + ui.Segment(t.File().SHA256) + ui.ThumbnailPart})
		} else {
			month.Files = append(month.Files,
				fileRow{Title: t.FileName(), Source: t.In.ConnectionName, Kind: things.KindWords(t.MediaType()),
					Size: t.SizeWords(),
					At:   at, Address: page.opens(t)})
		}
	}
}
