package googletakeout

import (
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"pdpp/connectorkit"
	"pdpp/connectorkit/localarchive"
)

type point struct {
	ID        string   `json:"id"`
	Timestamp string   `json:"timestamp"`
	Latitude  *float64 `json:"latitude,omitzero"`
	Longitude *float64 `json:"longitude,omitzero"`
	Accuracy  *float64 `json:"accuracy_meters,omitzero"`
	Activity  string   `json:"activity_type,omitzero"`
	Velocity  *float64 `json:"velocity_mps,omitzero"`
	Altitude  *float64 `json:"altitude_m,omitzero"`
}

// lists are the names of the lists that each form of the history has.
var lists = []string{"locations", "timelineObjects", "semanticSegments"}

// readPlaces reads points, whatever form the history has: raw records, months of visits and
// ways, or what a phone itself exports.
func readPlaces(ctx context.Context, m *localarchive.Member) error {
	in, err := m.Open(ctx, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	var from localarchive.ListPlace
	m.State(&from)
	return localarchive.Lists(ctx, in, from, lists, func(at localarchive.ListPlace, element jsontext.Value) error {
		var points []point
		var known bool
		switch at.List {
		case "locations":
			points, known = rawPoint(element)
		case "timelineObjects":
			points, known = monthPoints(element)
		default:
			points, known = phonePoints(element)
		}
		if !known {
			m.Row(at.Index, int64(len(element)))
		}
		for i := range points {
			p := &points[i]
			p.ID = idOf("location", p.Timestamp, number(p.Latitude), number(p.Longitude))
			m.Emit("location_history", connectorkit.Upsert(p))
		}
		at.Index++
		return m.Place(ctx, func() any { return at })
	})
}

func number(n *float64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatFloat(*n, 'f', 7, 64)
}

// e7 is a coordinate in ten millionths of a degree. Some were written as if they had no sign.
func e7(n *int64) *float64 {
	if n == nil {
		return nil
	}
	v := *n
	if v > 1_800_000_000 {
		v -= 1 << 32
	}
	degrees := float64(v) / 1e7
	if math.Abs(degrees) > 180 {
		return nil
	}
	return &degrees
}

func rawPoint(element jsontext.Value) ([]point, bool) {
	var s struct {
		LatitudeE7  *int64         `json:"latitudeE7"`
		LongitudeE7 *int64         `json:"longitudeE7"`
		Accuracy    *float64       `json:"accuracy"`
		Velocity    *float64       `json:"velocity"`
		Altitude    *float64       `json:"altitude"`
		Timestamp   string         `json:"timestamp"`
		TimestampMs jsontext.Value `json:"timestampMs"`
		Activity    []struct {
			Activity []struct {
				Type       string  `json:"type"`
				Confidence float64 `json:"confidence"`
			} `json:"activity"`
		} `json:"activity"`
	}
	if json.Unmarshal(element, &s, lenient) != nil {
		return nil, false
	}
	p := point{Timestamp: timeOf(s.Timestamp), Latitude: e7(s.LatitudeE7), Longitude: e7(s.LongitudeE7), Accuracy: s.Accuracy, Velocity: s.Velocity, Altitude: s.Altitude}
	if p.Timestamp == "" {
		ms, err := strconv.ParseInt(strings.Trim(string(s.TimestampMs), `"`), 10, 64)
		if err != nil || ms <= 0 || ms > 253402300799999 {
			return nil, false
		}
		p.Timestamp = time.UnixMilli(ms).UTC().Format(time.RFC3339Nano)
	}
	best := -1.0
	for _, a := range s.Activity {
		for _, one := range a.Activity {
			if one.Confidence > best {
				p.Activity, best = one.Type, one.Confidence
			}
		}
	}
	return []point{p}, true
}

// monthPoints are the place of a visit, or both ends of a way.
func monthPoints(element jsontext.Value) ([]point, bool) {
	type place struct {
		LatitudeE7  *int64 `json:"latitudeE7"`
		LongitudeE7 *int64 `json:"longitudeE7"`
	}
	type span struct {
		Start string `json:"startTimestamp"`
		End   string `json:"endTimestamp"`
	}
	var s struct {
		Visit *struct {
			Location place `json:"location"`
			Duration span  `json:"duration"`
		} `json:"placeVisit"`
		Way *struct {
			Start    place  `json:"startLocation"`
			End      place  `json:"endLocation"`
			Duration span   `json:"duration"`
			Type     string `json:"activityType"`
		} `json:"activitySegment"`
	}
	if json.Unmarshal(element, &s, lenient) != nil {
		return nil, false
	}
	at := func(text string, p place, kind string) point {
		return point{Timestamp: timeOf(text), Latitude: e7(p.LatitudeE7), Longitude: e7(p.LongitudeE7), Activity: kind}
	}
	var out []point
	switch {
	case s.Visit != nil:
		out = []point{at(s.Visit.Duration.Start, s.Visit.Location, "")}
	case s.Way != nil:
		out = []point{at(s.Way.Duration.Start, s.Way.Start, s.Way.Type), at(s.Way.Duration.End, s.Way.End, s.Way.Type)}
	}
	return timed(out)
}

// timed leaves out points without a time; false when one had none.
func timed(points []point) ([]point, bool) {
	whole := len(points) > 0
	var out []point
	for _, p := range points {
		if p.Timestamp == "" {
			whole = false
			continue
		}
		out = append(out, p)
	}
	return out, whole
}

// phonePoints are those of a stretch of time as a phone exports it.
func phonePoints(element jsontext.Value) ([]point, bool) {
	type candidate struct {
		Type  string         `json:"type"`
		Place jsontext.Value `json:"placeLocation"`
	}
	var s struct {
		Start string `json:"startTime"`
		End   string `json:"endTime"`
		Path  []struct {
			Point  string         `json:"point"`
			Time   string         `json:"time"`
			Offset jsontext.Value `json:"durationMinutesOffsetFromStartTime"`
		} `json:"timelinePath"`
		Visit *struct {
			Top candidate `json:"topCandidate"`
		} `json:"visit"`
		Activity *struct {
			Start jsontext.Value `json:"start"`
			End   jsontext.Value `json:"end"`
			Top   candidate      `json:"topCandidate"`
		} `json:"activity"`
	}
	if json.Unmarshal(element, &s, lenient) != nil {
		return nil, false
	}
	make := func(text, where, kind string) point {
		p := point{Timestamp: timeOf(text), Activity: kind}
		p.Latitude, p.Longitude = degrees(where)
		return p
	}
	var out []point
	for _, step := range s.Path {
		text := step.Time
		if minutes, err := strconv.ParseFloat(strings.Trim(string(step.Offset), `"`), 64); text == "" && err == nil {
			if start, err := time.Parse(time.RFC3339Nano, s.Start); err == nil {
				text = start.Add(time.Duration(minutes * float64(time.Minute))).Format(time.RFC3339Nano)
			}
		}
		out = append(out, make(text, step.Point, ""))
	}
	if s.Visit != nil {
		out = append(out, make(s.Start, placeText(s.Visit.Top.Place), ""))
	}
	if s.Activity != nil {
		out = append(out, make(s.Start, placeText(s.Activity.Start), s.Activity.Top.Type), make(s.End, placeText(s.Activity.End), s.Activity.Top.Type))
	}
	if len(out) == 0 && s.Start != "" {
		return nil, true // a stretch of which the phone says nothing but that it was
	}
	return timed(out)
}

// placeText is a place: a text, or one within an object.
func placeText(v jsontext.Value) string {
	var text string
	if v.Kind() == '"' && json.Unmarshal(v, &text, lenient) == nil {
		return text
	}
	var within struct {
		LatLng string `json:"latLng"`
	}
	if v.Kind() == '{' && json.Unmarshal(v, &within, lenient) == nil {
		return within.LatLng
	}
	return ""
}

// degrees reads "40.1°, -3.7°" and "geo:40.1,-3.7".
func degrees(text string) (lat, lon *float64) {
	a, b, ok := strings.Cut(strings.TrimPrefix(text, "geo:"), ",")
	if !ok {
		return nil, nil
	}
	var n [2]float64
	for i, part := range []string{a, b} {
		v, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(part), "°")), 64)
		if err != nil || math.Abs(v) > 180 || math.IsNaN(v) {
			return nil, nil
		}
		n[i] = v
	}
	return &n[0], &n[1]
}
