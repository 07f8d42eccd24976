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

type monthTimeSpan struct {
	Start   string         `json:"startTimestamp"`
	End     string         `json:"endTimestamp"`
	StartMs jsontext.Value `json:"startTimestampMs"`
	EndMs   jsontext.Value `json:"endTimestampMs"`
}

func (s monthTimeSpan) startTime() string {
	return cmp.Or(parseExportTime(s.Start), milliseconds(s.StartMs))
}

func (s monthTimeSpan) endTime() string { return cmp.Or(parseExportTime(s.End), milliseconds(s.EndMs)) }

// measuredPath has measured points, each with its time.
type measuredPath struct {
	Points []struct {
		LatE7       *int64         `json:"latE7"`
		LngE7       *int64         `json:"lngE7"`
		Accuracy    *float64       `json:"accuracyMeters"`
		Timestamp   string         `json:"timestamp"`
		TimestampMs jsontext.Value `json:"timestampMs"`
	} `json:"points"`
}

func (r measuredPath) placeRecords() (out []placeRecord) {
	for _, at := range r.Points {
		out = append(out, placeRecord{Kind: placeKindPoint,
			Timestamp: cmp.Or(parseExportTime(at.Timestamp), milliseconds(at.TimestampMs)),
			Latitude:  degreesFromE7(at.LatE7), Longitude: degreesFromE7(at.LngE7), Accuracy: at.Accuracy})
	}
	return out
}

type monthVisit struct {
	Location   monthPlace    `json:"location"`
	Duration   monthTimeSpan `json:"duration"`
	CenterLat  *int64        `json:"centerLatE7"`
	CenterLng  *int64        `json:"centerLngE7"`
	Confidence *float64      `json:"visitConfidence"`
	Others     []monthPlace  `json:"otherCandidateLocations"`
	Children   []monthVisit  `json:"childVisits"`
	Path       measuredPath  `json:"simplifiedRawPath"`
}

// maxNestedVisits bounds visits within visits.
const maxNestedVisits = 8

func (v *monthVisit) placeRecords(parent string, depth int) []placeRecord {
	at := v.Location
	p := placeRecord{
		Kind: placeKindVisit, Timestamp: v.Duration.startTime(), EndTimestamp: v.Duration.endTime(),
		Latitude:  degreesFromE7(at.LatitudeE7),
		Longitude: degreesFromE7(at.LongitudeE7), PlaceName: at.Name, Address: at.Address,
		PlaceID: at.PlaceID, SemanticType: at.SemanticType, Confidence: v.Confidence, ParentID: parent,
	}
	if p.Latitude == nil && p.Longitude == nil {
		p.Latitude, p.Longitude = degreesFromE7(v.CenterLat), degreesFromE7(v.CenterLng)
	}
	for _, o := range v.Others {
		p.Candidates = append(p.Candidates, placeCandidate{o.PlaceID, o.Name, o.Confidence})
	}
	p.fillKeyAndLabel()
	out := append([]placeRecord{p}, v.Path.placeRecords()...)
	for i := range v.Children {
		if depth < maxNestedVisits {
			out = append(out, v.Children[i].placeRecords(p.ID, depth+1)...)
		}
	}
	return out
}

type monthActivity struct {
	Start    monthPlace    `json:"startLocation"`
	End      monthPlace    `json:"endLocation"`
	Duration monthTimeSpan `json:"duration"`
	Type     string        `json:"activityType"`
	Distance *float64      `json:"distance"`
	Path     measuredPath  `json:"simplifiedRawPath"`
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

func (w *monthActivity) placeRecords() []placeRecord {
	from := placeRecord{
		Kind: kindActivity, Timestamp: w.Duration.startTime(), EndTimestamp: w.Duration.endTime(),
		Latitude:  degreesFromE7(w.Start.LatitudeE7),
		Longitude: degreesFromE7(w.Start.LongitudeE7),
		Activity:  w.Type, Distance: w.Distance, TransitLine: w.Transit.Name,
	}
	for _, at := range w.Way.Points {
		if lat, lon := degreesFromE7(at.LatE7), degreesFromE7(at.LngE7); lat != nil && lon != nil {
			from.WayPoints = append(from.WayPoints, pathPoint{*lat, *lon})
		}
	}
	for _, at := range w.Transit.Stops {
		from.Stops = append(from.Stops, routeStop{at.Name, at.Address, at.PlaceID, degreesFromE7(at.LatitudeE7),
			degreesFromE7(at.LongitudeE7)})
	}
	to := placeRecord{Kind: kindActivityEnd, Timestamp: w.Duration.endTime(), Latitude: degreesFromE7(w.End.LatitudeE7),
		Longitude: degreesFromE7(w.End.LongitudeE7), Activity: w.Type}
	out := append([]placeRecord{from, to}, w.Path.placeRecords()...)
	if at := w.Parking; at != nil {
		out = append(out, placeRecord{Kind: kindParking,
			Timestamp: cmp.Or(parseExportTime(at.Timestamp), milliseconds(at.TimestampMs),
				w.Duration.endTime()), Latitude: degreesFromE7(at.Location.LatitudeE7),
			Longitude: degreesFromE7(at.Location.LongitudeE7)})
	}
	return out
}

// monthPoints are a visit with those within it, or a way with both of its ends.
func monthPoints(element jsontext.Value) ([]placeRecord, bool) {
	var s struct {
		Visit *monthVisit    `json:"placeVisit"`
		Way   *monthActivity `json:"activitySegment"`
	}
	if json.Unmarshal(element, &s, lenientDecoding) != nil {
		return nil, false
	}
	var out []placeRecord
	switch {
	case s.Visit != nil:
		out = s.Visit.placeRecords("", 0)
	case s.Way != nil:
		out = s.Way.placeRecords()
	}
	return completeTimedPoints(out)
}

// phonePlace is the phone's guess of a visit or a route.
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
	phoneTripMemory
	Trip phoneTripMemory `json:"trip"`
}

type phoneTripMemory struct {
	Distance     jsontext.Value `json:"distanceFromOriginKms"`
	Destinations []struct {
		Identifier jsontext.Value `json:"identifier"`
	} `json:"destinations"`
}

// phonePoints are those of a stretch of time as a phone exports it.
func phonePoints(element jsontext.Value) ([]placeRecord, bool) {
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
	if json.Unmarshal(element, &s, lenientDecoding) != nil {
		return nil, false
	}
	at := func(text, where, kind string) placeRecord {
		p := placeRecord{Timestamp: parseExportTime(text), Kind: kind}
		p.Latitude, p.Longitude = parseDegrees(where)
		return p
	}
	var out []placeRecord
	for _, step := range s.Path {
		text := step.Time
		if minutes := optionalNumber(step.Offset); text == "" && minutes != nil {
			if start, err := time.Parse(time.RFC3339Nano, s.Start); err == nil {
				text = start.Add(time.Duration(*minutes * float64(time.Minute))).Format(time.RFC3339Nano)
			}
		}
		out = append(out, at(text, step.Point, placeKindPoint))
	}
	if v := s.Visit; v != nil {
		p := at(s.Start, placeDescription(v.Top.Place), placeKindVisit)
		p.EndTimestamp, p.PlaceID, p.SemanticType, p.Confidence = parseExportTime(s.End),
			cmp.Or(v.Top.PlaceID, v.Top.PlaceIDiOS),
			v.Top.SemanticType, optionalNumber(v.Top.Probability)
		out = append(out, p)
	}
	if a := s.Activity; a != nil {
		from, to := at(s.Start, placeDescription(a.Start), kindActivity), at(s.End, placeDescription(a.End), kindActivityEnd)
		from.EndTimestamp, from.Activity, from.Distance, to.Activity = parseExportTime(s.End), a.Top.Type,
			optionalNumber(a.Distance),
			a.Top.Type
		out = append(out, from, to)
		if a.Parking != nil {
			out = append(out, at(cmp.Or(a.Parking.Start, s.End), placeDescription(a.Parking.Location), kindParking))
		}
	}
	if s.Memory != nil {
		out = append(out, s.Memory.placeRecord(s.Start, s.End))
	}
	if len(out) == 0 && s.Start != "" {
		return nil, true // a stretch without any details
	}
	return completeTimedPoints(out)
}

func (m *phoneMemory) placeRecord(start, end string) placeRecord {
	trip := m.Trip
	if len(trip.Destinations) == 0 {
		trip = m.phoneTripMemory
	}
	p := placeRecord{Kind: placeKindTrip, Timestamp: parseExportTime(start), EndTimestamp: parseExportTime(end)}
	if km := optionalNumber(trip.Distance); km != nil {
		metres := *km * 1000
		p.Distance = &metres
	}
	for _, d := range trip.Destinations {
		var text string
		var within struct {
			PlaceID string `json:"placeId"`
		}
		if d.Identifier.Kind() == '"' {
			_ = json.Unmarshal(d.Identifier, &text, lenientDecoding) // a text that cannot be read names nothing
		} else if d.Identifier.Kind() == '{' {
			_ = json.Unmarshal(d.Identifier, &within, lenientDecoding) // as above
		}
		p.Stops = append(p.Stops, routeStop{PlaceID: cmp.Or(text, within.PlaceID)})
	}
	return p
}

// optionalNumber returns a number, or the number in a text; nil when there is none.
func optionalNumber(v jsontext.Value) *float64 {
	n, err := strconv.ParseFloat(strings.Trim(string(v), `"`), 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return nil
	}
	return &n
}
