package browse

import (
	"context"
	"net/http"
	"strconv"
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
	Scrub  []scrubMonth
}

// scrubMonth is a month that leads to its pictures, with a bar of how many there are.
type scrubMonth struct {
	Year    string // set in the newest month of a year
	Name    string
	Label   string
	Count   int64
	Wide    string
	Address string
	Current bool
}

// scrubYears is how many years the months lead back; what is older is reached page by page.
const scrubYears = 3

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
	keep := func(t *things.Thing) bool { return (kind == pictures) == t.IsPicture() }
	if kind == "" {
		keep = nil
	}
	l, err := p.list(r, gallery, keep)
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
	if err := p.scrub(r.Context(), page); err != nil {
		p.ShowFailure(w, r, ui.Section(r), err)
		return
	}
	p.show(w, r, gallery.title, galleryBody(page, p.Now()))
}

// scrub lists the months that have files.
func (p *browsePages) scrub(ctx context.Context, page *galleryPage) error {
	var of []*things.Stream
	for i := range page.all.All {
		s := &page.all.All[i]
		if gallery.shows(s) && s.Role("time") != "" && (page.source == "" || page.source == s.ConnectionID) {
			of = append(of, s)
		}
	}
	now := p.Now()
	last := time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, now.Location())
	counts, err := things.MonthCounts(ctx, p.Owner, of, last.AddDate(-scrubYears, 0, 0), last.AddDate(0, 0, -1))
	if err != nil {
		return err
	}
	most, year := int64(1), 0
	for _, n := range counts {
		most = max(most, n)
	}
	for i := range scrubYears * 12 {
		month := last.AddDate(0, -1-i, 0)
		n := counts[month.Format("2006-01")]
		if n == 0 {
			continue
		}
		one := scrubMonth{Name: month.Format("January 2006"), Label: month.Format("Jan"), Count: n,
			Wide:    strconv.FormatInt(max(1, 80*n/most), 10),
			Address: page.with(func(a *asked) { a.at = things.Place{At: month.AddDate(0, 1, 0)} }),
			Current: len(page.Months) > 0 && page.Months[0].Name == month.Format("January 2006")}
		if month.Year() != year {
			year, one.Year = month.Year(), month.Format("2006")
		}
		page.Scrub = append(page.Scrub, one)
	}
	return nil
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
				Address: gallery.address + "/" + t.Path(),
				Small:   t.Address() + "/files/" + ui.Segment(t.File().SHA256) + ui.ThumbnailPart})
		} else {
			month.Files = append(month.Files,
				fileRow{Title: t.FileName(), Source: t.In.ConnectionName, Kind: things.KindWords(t.MediaType()),
					Size: t.SizeWords(),
					At:   at, Address: page.opens(t)})
		}
	}
}
