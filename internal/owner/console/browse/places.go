package browse

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/internal/owner/words"
	"github.com/pdpp-go/pdpp/manifest"
)

var places = &view{name: "places", title: "Places", address: "/places", most: 100,
	one: "record", many: "records", about: "Where you were, the newest first.",
	empty: "Places appear here from location histories and exports.",
	shows: func(s *things.Stream) bool { return s.Kind() == manifest.KindPlace }}

// placesPage lists visited places and plots them.
type placesPage struct {
	readingList
	Dots []dot
}

// dot is a place in the plot.
type dot struct{ X, Y string }

// The plot, and the room around what it shows.
const (
	plotWide, plotHigh = 400.0, 190.0
	plotMargin         = 14.0
)

func (p *browsePages) places(w http.ResponseWriter, r *http.Request) {
	l, err := p.list(r, places, nil)
	if err != nil {
		p.ShowFailure(w, r, ui.Section(r), err)
		return
	}
	page := &placesPage{readingList: readingList{listing: l}}
	n := p.names(r.Context(), l.all)
	var at [][2]float64
	for i := range l.Things {
		t := &l.Things[i]
		one := row{Icon: manifest.KindPlace, Title: cmp.Or(things.Calm(text.Name(n.Of(t, "title"))), "A place"),
			From: t.In.ConnectionName, Address: l.opens(t)}
		if lat, long, ok := t.Coordinates(); ok {
			one.Note = degrees(lat, "N", "S") + " " + degrees(long, "E", "W")
			at = append(at, [2]float64{lat, long})
		}
		if end, known := api.ParseMoment(t.Text("end")); known && t.At != nil {
			if stay := end.Sub(*t.At); stay >= time.Minute {
				one.Note += things.After(", ", words.ShortSpan(int64(stay/time.Second)))
			}
		}
		page.add(one, t.When(p.Now()), p.Now())
	}
	page.Dots = dots(at)
	p.show(w, r, places.title, placesBody(page, p.Now()))
}

// degrees writes an angle with its side.
func degrees(v float64, over, under string) string {
	if v < 0 {
		v, over = -v, under
	}
	return strconv.FormatFloat(v, 'f', 4, 64) + "° " + over
}

// dots puts places into the plot, as large as they fit, east to the right and north up. Degrees of
// longitude are as wide as they are in the middle of it.
func dots(at [][2]float64) (out []dot) {
	if len(at) == 0 {
		return nil
	}
	low, high := at[0], at[0]
	for _, p := range at {
		for i := range p {
			low[i], high[i] = min(low[i], p[i]), max(high[i], p[i])
		}
	}
	shrink := max(math.Cos((low[0]+high[0])/2*math.Pi/180), 0.01)
	const least = 0.002 // about 200 m: a single place is in the middle
	tall, wide := max(high[0]-low[0], least), max((high[1]-low[1])*shrink, least)
	scale := min((plotHigh-2*plotMargin)/tall, (plotWide-2*plotMargin)/wide)
	for _, p := range at {
		x := plotWide/2 + (p[1]-(low[1]+high[1])/2)*shrink*scale
		y := plotHigh/2 - (p[0]-(low[0]+high[0])/2)*scale
		out = append(out, dot{fmt.Sprintf("%.1f", x), fmt.Sprintf("%.1f", y)})
	}
	return out
}
