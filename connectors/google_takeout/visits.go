package googletakeout

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// monthPlace is a place as the months of the history have it.
type monthPlace struct {
	LatitudeE7   *int64   `json:"latitudeE7"`
	LongitudeE7  *int64   `json:"longitudeE7"`
	PlaceID      string   `json:"placeId"`
	Address      string   `json:"address"`
	Name         string   `json:"name"`
	SemanticType string   `json:"semanticType"`
	Confidence   *float64 `json:"locationConfidence"`
}

type monthSpan struct {
	Start   string         `json:"startTimestamp"`
	End     string         `json:"endTimestamp"`
	StartMs jsontext.Value `json:"startTimestampMs"`
	EndMs   jsontext.Value `json:"endTimestampMs"`
}

func (s monthSpan) start() string { return cmp.Or(timeOf(s.Start), milliseconds(s.StartMs)) }

func (s monthSpan) end() string { return cmp.Or(timeOf(s.End), milliseconds(s.EndMs)) }

// rawPath has measured points, each with its time.
type rawPath struct {
	Points []struct {
		LatE7       *int64         `json:"latE7"`
		LngE7       *int64         `json:"lngE7"`
		Accuracy    *float64       `json:"accuracyMeters"`
		Timestamp   string         `json:"timestamp"`
		TimestampMs jsontext.Value `json:"timestampMs"`
	} `json:"points"`
}

func (r rawPath) points() (out []point) {
	for _, at := range r.Points {
		out = append(out, point{Kind: kindPoint, Timestamp: cmp.Or(timeOf(at.Timestamp), milliseconds(at.TimestampMs)),
			Latitude: e7(at.LatE7), Longitude: e7(at.LngE7), Accuracy: at.Accuracy})
	}
	return out
}

type monthVisit struct {
	Location   monthPlace   `json:"location"`
	Duration   monthSpan    `json:"duration"`
	CenterLat  *int64       `json:"centerLatE7"`
	CenterLng  *int64       `json:"centerLngE7"`
	Confidence *float64     `json:"visitConfidence"`
	Others     []monthPlace `json:"otherCandidateLocations"`
	Children   []monthVisit `json:"childVisits"`
	Path       rawPath      `json:"simplifiedRawPath"`
}

// maxNested bounds visits within visits.
const maxNested = 8

func (v *monthVisit) points(parent string, depth int) []point {
	at := v.Location
	p := point{
		Kind: kindVisit, Timestamp: v.Duration.start(), EndTimestamp: v.Duration.end(), Latitude: e7(at.LatitudeE7),
		Longitude: e7(at.LongitudeE7), PlaceName: at.Name, Address: at.Address,
		PlaceID: at.PlaceID, SemanticType: at.SemanticType, Confidence: v.Confidence, ParentID: parent,
	}
	if p.Latitude == nil && p.Longitude == nil {
		p.Latitude, p.Longitude = e7(v.CenterLat), e7(v.CenterLng)
	}
	for _, o := range v.Others {
		p.Candidates = append(p.Candidates, candidate{o.PlaceID, o.Name, o.Confidence})
	}
	p.complete()
	out := append([]point{p}, v.Path.points()...)
	for i := range v.Children {
		if depth < maxNested {
			out = append(out, v.Children[i].points(p.ID, depth+1)...)
		}
	}
	return out
}

type monthWay struct {
	Start    monthPlace `json:"startLocation"`
	End      monthPlace `json:"endLocation"`
	Duration monthSpan  `json:"duration"`
	Type     string     `json:"activityType"`
	Distance *float64   `json:"distance"`
	Path     rawPath    `json:"simplifiedRawPath"`
	Way      struct {
		Points []struct {
			LatE7 *int64 `json:"latE7"`
			LngE7 *int64 `json:"lngE7"`
		} `json:"waypoints"`
	} `json:"waypointPath"`
	Transit struct {
		Stops []monthPlace `json:"transitStops"`
		Name  string       `json:"name"`
	} `json:"transitPath"`
	Parking *struct {
		Location    monthPlace     `json:"location"`
		Timestamp   string         `json:"timestamp"`
		TimestampMs jsontext.Value `json:"timestampMs"`
	} `json:"parkingEvent"`
}

func (w *monthWay) points() []point {
	from := point{
		Kind: kindActivity, Timestamp: w.Duration.start(), EndTimestamp: w.Duration.end(), Latitude: e7(w.Start.LatitudeE7),
		Longitude: e7(w.Start.LongitudeE7),
		Activity:  w.Type, Distance: w.Distance, TransitLine: w.Transit.Name,
	}
	for _, at := range w.Way.Points {
		if lat, lon := e7(at.LatE7), e7(at.LngE7); lat != nil && lon != nil {
			from.WayPoints = append(from.WayPoints, wayPoint{*lat, *lon})
		}
	}
	for _, at := range w.Transit.Stops {
		from.Stops = append(from.Stops, stop{at.Name, at.Address, at.PlaceID, e7(at.LatitudeE7), e7(at.LongitudeE7)})
	}
	to := point{Kind: kindActivityEnd, Timestamp: w.Duration.end(), Latitude: e7(w.End.LatitudeE7),
		Longitude: e7(w.End.LongitudeE7), Activity: w.Type}
	out := append([]point{from, to}, w.Path.points()...)
	if at := w.Parking; at != nil {
		out = append(out, point{Kind: kindParking, Timestamp: cmp.Or(timeOf(at.Timestamp), milliseconds(at.TimestampMs),
			w.Duration.end()), Latitude: e7(at.Location.LatitudeE7), Longitude: e7(at.Location.LongitudeE7)})
	}
	return out
}

// monthPoints are a visit with those within it, or a way with both of its ends.
func monthPoints(element jsontext.Value) ([]point, bool) {
	var s struct {
		Visit *monthVisit `json:"placeVisit"`
		Way   *monthWay   `json:"activitySegment"`
	}
	if json.Unmarshal(element, &s, lenient) != nil {
		return nil, false
	}
	var out []point
	switch {
	case s.Visit != nil:
		out = s.Visit.points("", 0)
	case s.Way != nil:
		out = s.Way.points()
	}
	return timed(out)
}

// phonePlace is what a phone takes a visit or a way to be.
type phonePlace struct {
	Type         string         `json:"type"`
	PlaceID      string         `json:"placeId"`
	PlaceIDiOS   string         `json:"placeID"`
	SemanticType string         `json:"semanticType"`
	Place        jsontext.Value `json:"placeLocation"`
	Probability  jsontext.Value `json:"probability"`
}

// phoneMemory is a trip of several days.
type phoneMemory struct {
	phoneTrip
	Trip phoneTrip `json:"trip"`
}

type phoneTrip struct {
	Distance     jsontext.Value `json:"distanceFromOriginKms"`
	Destinations []struct {
		Identifier jsontext.Value `json:"identifier"`
	} `json:"destinations"`
}

// phonePoints are those of a stretch of time as a phone exports it.
func phonePoints(element jsontext.Value) ([]point, bool) {
	var s struct {
		Start string `json:"startTime"`
		End   string `json:"endTime"`
		Path  []struct {
			Point  string         `json:"point"`
			Time   string         `json:"time"`
			Offset jsontext.Value `json:"durationMinutesOffsetFromStartTime"`
		} `json:"timelinePath"`
		Visit *struct {
			Top phonePlace `json:"topCandidate"`
		} `json:"visit"`
		Activity *struct {
			Start    jsontext.Value `json:"start"`
			End      jsontext.Value `json:"end"`
			Distance jsontext.Value `json:"distanceMeters"`
			Top      phonePlace     `json:"topCandidate"`
			Parking  *struct {
				Location jsontext.Value `json:"location"`
				Start    string         `json:"startTime"`
			} `json:"parking"`
		} `json:"activity"`
		Memory *phoneMemory `json:"timelineMemory"`
	}
	if json.Unmarshal(element, &s, lenient) != nil {
		return nil, false
	}
	at := func(text, where, kind string) point {
		p := point{Timestamp: timeOf(text), Kind: kind}
		p.Latitude, p.Longitude = degrees(where)
		return p
	}
	var out []point
	for _, step := range s.Path {
		text := step.Time
		if minutes := decimal(step.Offset); text == "" && minutes != nil {
			if start, err := time.Parse(time.RFC3339Nano, s.Start); err == nil {
				text = start.Add(time.Duration(*minutes * float64(time.Minute))).Format(time.RFC3339Nano)
			}
		}
		out = append(out, at(text, step.Point, kindPoint))
	}
	if v := s.Visit; v != nil {
		p := at(s.Start, placeText(v.Top.Place), kindVisit)
		p.EndTimestamp, p.PlaceID, p.SemanticType, p.Confidence = timeOf(s.End), cmp.Or(v.Top.PlaceID, v.Top.PlaceIDiOS),
			v.Top.SemanticType, decimal(v.Top.Probability)
		out = append(out, p)
	}
	if a := s.Activity; a != nil {
		from, to := at(s.Start, placeText(a.Start), kindActivity), at(s.End, placeText(a.End), kindActivityEnd)
		from.EndTimestamp, from.Activity, from.Distance, to.Activity = timeOf(s.End), a.Top.Type, decimal(a.Distance),
			a.Top.Type
		out = append(out, from, to)
		if a.Parking != nil {
			out = append(out, at(cmp.Or(a.Parking.Start, s.End), placeText(a.Parking.Location), kindParking))
		}
	}
	if s.Memory != nil {
		out = append(out, s.Memory.point(s.Start, s.End))
	}
	if len(out) == 0 && s.Start != "" {
		return nil, true // a stretch without any details
	}
	return timed(out)
}

func (m *phoneMemory) point(start, end string) point {
	trip := m.Trip
	if len(trip.Destinations) == 0 {
		trip = m.phoneTrip
	}
	p := point{Kind: kindTrip, Timestamp: timeOf(start), EndTimestamp: timeOf(end)}
	if km := decimal(trip.Distance); km != nil {
		metres := *km * 1000
		p.Distance = &metres
	}
	for _, d := range trip.Destinations {
		var text string
		var within struct {
			PlaceID string `json:"placeId"`
		}
		if d.Identifier.Kind() == '"' {
			_ = json.Unmarshal(d.Identifier, &text, lenient) // a text that cannot be read names nothing
		} else if d.Identifier.Kind() == '{' {
			_ = json.Unmarshal(d.Identifier, &within, lenient) // as above
		}
		p.Stops = append(p.Stops, stop{PlaceID: cmp.Or(text, within.PlaceID)})
	}
	return p
}

// decimal is a number, or one in a text; nil when there is none.
func decimal(v jsontext.Value) *float64 {
	n, err := strconv.ParseFloat(strings.Trim(string(v), `"`), 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return nil
	}
	return &n
}
