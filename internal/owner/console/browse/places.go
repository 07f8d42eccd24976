package browse

import (
	"cmp"
	"net/http"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/internal/owner/console/visits"
	"github.com/pdpp-go/pdpp/internal/owner/words"
	"github.com/pdpp-go/pdpp/manifest"
)

var places = &view{name: "places", title: "Places", address: "/places", most: 100,
	one: "record", many: "records", about: "Where you were, the newest first.",
	empty: "Places appear here from location histories and exports.",
	shows: func(s *things.Stream) bool { return s.Kind() == manifest.KindPlace }}

// placesPage lists visited places and draws them on a map.
type placesPage struct {
	readingList
	Visits *visits.Visits
}

func (p *browsePages) places(w http.ResponseWriter, r *http.Request) {
	l, err := p.list(r, places, nil)
	if err != nil {
		p.ShowFailure(w, r, ui.Section(r), err)
		return
	}
	page := &placesPage{readingList: readingList{listing: l}}
	n := p.names(r.Context(), l.all)
	for i := range l.Things {
		t := &l.Things[i]
		one := row{Icon: manifest.KindPlace, Title: cmp.Or(things.Calm(text.Name(n.Of(t, "title"))), "A place"),
			From: t.In.ConnectionName, Address: l.opens(t)}
		if lat, long, ok := t.Coordinates(); ok {
			one.Note = degrees(lat, "N", "S") + " " + degrees(long, "E", "W")
		}
		if end, known := api.ParseMoment(t.Text("end")); known && t.At != nil {
			if stay := end.Sub(*t.At); stay >= time.Minute {
				one.Note += things.After(", ", words.ShortSpan(int64(stay/time.Second)))
			}
		}
		page.add(one, t.When(p.Now()), p.Now())
	}
	where := visits.Finder{Owner: p.Owner, All: l.all, Names: n.Names, Address: places.address}
	if page.Visits, err = where.OfMonth(r.Context(), p.Now(), r.URL.Query().Get("month")); err != nil {
		p.ShowFailure(w, r, ui.Section(r), err)
		return
	}
	p.show(w, r, places.title, placesBody(page, p.Now()))
}

// degrees writes an angle with its side.
func degrees(v float64, over, under string) string {
	if v < 0 {
		v, over = -v, under
	}
	return strconv.FormatFloat(v, 'f', 4, 64) + "° " + over
}
