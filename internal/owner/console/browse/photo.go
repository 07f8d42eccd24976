package browse

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// photoPage is one picture as large as it fits, between the ones before and after it.
type photoPage struct {
	things.Picture
	Full         string // the address of the picture
	Record, Day  string
	Place        string // where it was taken, on the map of its month
	Newer, Older string
	All          string // the page of the wall that it is on
}

// besidePhotos is how many files are looked through for the next picture.
const besidePhotos = 40

// shownWhole are the kinds of pictures that every browser shows.
var shownWhole = []string{"image/jpeg", "image/png", "image/gif", "image/webp"}

func noPhoto() error {
	return api.NotFound("There is no such picture.", "Choose one under Photos.")
}

// photo shows one picture.
func (p *browsePages) photo(w http.ResponseWriter, r *http.Request) {
	page, err := p.openPhoto(r)
	if err != nil {
		p.ShowFailure(w, r, ui.Section(r), err)
		return
	}
	p.show(w, r, page.Title, photoBody(page, p.Now()))
}

func (p *browsePages) openPhoto(r *http.Request) (*photoPage, error) {
	ctx := r.Context()
	id, err := readingID(r)
	if err != nil {
		return nil, noPhoto()
	}
	all, err := p.streams(ctx)
	if err != nil {
		return nil, err
	}
	s := all.Find(id.Connection, id.Stream)
	if s == nil || !gallery.shows(s) {
		return nil, noPhoto()
	}
	record, _, err := p.Owner.Record(ctx, id.Connection, id.Stream, id.Key)
	if err != nil {
		return nil, err
	}
	t := s.Thing(record)
	if !t.IsPicture() {
		return nil, noPhoto()
	}
	if at, known := api.ParseMoment(t.Text("time")); known {
		t.At = &at
	}
	page := &photoPage{Picture: t.Picture(), Record: t.Address(), All: gallery.address}
	if page.Full = page.Small; slices.Contains(shownWhole, t.MediaType()) {
		page.Full = strings.TrimSuffix(page.Small, ui.ThumbnailPart)
	}
	if t.At == nil {
		return page, nil
	}
	when := t.When(p.Now())
	page.Day = "/day/" + when.Format(time.DateOnly)
	month := time.Date(when.Year(), when.Month()+1, 1, 0, 0, 0, 0, when.Location())
	page.All = gallery.address + "?until=" + things.Moment(month)
	if _, _, is := t.Coordinates(); is {
		page.Place = places.address + "?month=" + when.Format("2006-01")
	}
	if page.Newer, err = p.besidePhoto(ctx, all, &t, true); err == nil {
		page.Older, err = p.besidePhoto(ctx, all, &t, false)
	}
	return page, err
}

// besidePhoto finds the picture before or after another one, over all sources. Of one moment they follow each other as
// the wall shows them.
func (p *browsePages) besidePhoto(ctx context.Context, all *things.Streams, t *things.Thing, newer bool) (string,
	error) {
	w := things.Walk{Oldest: newer}
	for i := range all.All {
		if s := &all.All[i]; gallery.shows(s) && s.Role("time") != "" && s.Records > 0 {
			w.Of = append(w.Of, s)
		}
	}
	from := t.At.Add(time.Microsecond)
	if newer {
		from = *t.At
	}
	found, err := w.Read(ctx, p.Owner, things.Place{At: from}, besidePhotos)
	if err != nil {
		return "", err
	}
	passed := false
	for i := range found.Things {
		one := &found.Things[i]
		switch {
		case one.ID() == t.ID():
			passed = true
		case one.IsPicture() && (passed || !one.At.Equal(*t.At)):
			return gallery.address + "/" + one.Path(), nil
		}
	}
	return "", nil
}
