package visits

import (
	"fmt"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
	"github.com/pdpp-go/pdpp/internal/owner/console/worldmap"
)

// stayed is a visit from one hour to another of a day of July 2026.
func stayed(name string, lat, long float64, day, from, to int) visit {
	at := time.Date(2026, 7, day, 0, 0, 0, 0, time.UTC)
	return visit{Point: worldmap.Point{Lat: lat, Long: long}, name: name, at: at.Add(time.Duration(from) * time.Hour),
		end: at.Add(time.Duration(to) * time.Hour)}
}

// A trip is nights in a row far from the place of most nights; a night next door, a day out and a night of which
// nothing is known are none.
func TestTrips(t *testing.T) {
	t.Parallel()
	var found []visit
	for day := 1; day <= 20; day++ {
		switch {
		case day >= 6 && day <= 8:
			found = append(found, stayed("Inn", 54.48, -.59, day, 0, 9))
		case day == 12:
			found = append(found, stayed("Next door", 54.9713, -1.6131, day, 0, 9))
		case day == 14:
		case day == 18:
			found = append(found, stayed("Lowmoor", 53.75, -1.77, day, 0, 9))
		default:
			found = append(found, stayed("Home", 54.9712, -1.613, day, 0, 8), stayed("Inn", 54.48, -.59, day, 10, 20))
		}
	}
	got := fmt.Sprint(tripsOf(found, time.UTC))
	want := fmt.Sprint([]Trip{{"Lowmoor", "18 July to 19 July 2026, 1 night", "/day/2026-07-18"},
		{"Inn", "6 July to 9 July 2026, 3 nights", "/day/2026-07-06"}})
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if few := tripsOf(found[:12], time.UTC); few != nil {
		t.Errorf("without a home there is %v", few)
	}
}

// An end that cannot be is not believed, so that no record makes a page slow.
func TestImpossibleStay(t *testing.T) {
	t.Parallel()
	places := things.Stream{Stream: api.Stream{Name: "s", Display: api.Display{Kind: "place", Roles: map[string]string{
		"title": "title", "latitude": "latitude", "longitude": "longitude", "time": "time", "end": "end"}}}}
	at := time.Date(2026, 7, 12, 20, 0, 0, 0, time.UTC)
	n := things.NewNames(t.Context(), nil, nil, things.NewStreams(nil))
	for end, want := range map[string]bool{"9999-01-01T00:00:00Z": true, "2026-07-13T00:00:00Z": false} {
		stay := places.Thing(api.Record{At: &at,
			Data: []byte(`{"title":"Home","latitude":54.9,"longitude":-1.6,"end":"` + end + `"}`)})
		one, ok := visitOf(n, &stay)
		if !ok || one.end.IsZero() != want {
			t.Errorf("%s: %+v", end, one)
		}
	}
}

// Every visit is in one cluster, and a cluster has the name that most of its visits have.
func TestClusters(t *testing.T) {
	t.Parallel()
	v := &Visits{Span: "July 2026"}
	v.fill([]visit{stayed("Home", 54.97, -1.61, 1, 0, 8), stayed("Home", 54.9701, -1.6101, 2, 0, 8),
		stayed("Shop", 54.9702, -1.6102, 2, 9, 10), stayed("Inn", 54.48, -.59, 3, 0, 8), {}}, time.UTC)
	sum := 0
	for _, c := range v.Clusters {
		sum += c.Count
	}
	if sum != 5 || v.Clusters[0].Name != "Home" || v.Clusters[0].Count < 3 || v.Map == nil {
		t.Errorf("%+v", v.Clusters)
	}
	if v.Most[0].Name != "Home" || v.Most[0].Time != "16 h" || v.Most[0].Note != "2 visits" {
		t.Errorf("%+v", v.Most)
	}
}
