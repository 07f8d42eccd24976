package googletakeout

import (
	"cmp"
	"context"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localarchive"
)

type placeRecord struct {
	ID           string           `json:"id"`
	Kind         string           `json:"kind"`
	Timestamp    string           `json:"timestamp"`
	EndTimestamp string           `json:"end_timestamp,omitzero"`
	Label        string           `json:"label,omitzero"`
	Latitude     *float64         `json:"latitude,omitzero"`
	Longitude    *float64         `json:"longitude,omitzero"`
	Accuracy     *float64         `json:"accuracy_meters,omitzero"`
	Activity     string           `json:"activity_type,omitzero"`
	Velocity     *float64         `json:"velocity_mps,omitzero"`
	Altitude     *float64         `json:"altitude_m,omitzero"`
	Heading      *float64         `json:"heading_degrees,omitzero"`
	Source       string           `json:"source,omitzero"`
	PlaceName    string           `json:"place_name,omitzero"`
	Address      string           `json:"address,omitzero"`
	PlaceID      string           `json:"place_id,omitzero"`
	SemanticType string           `json:"semantic_type,omitzero"`
	Confidence   *float64         `json:"confidence,omitzero"`
	Candidates   []placeCandidate `json:"candidates,omitempty"`
	ParentID     string           `json:"parent_id,omitzero"`
	Distance     *float64         `json:"distance_m,omitzero"`
	WayPoints    []pathPoint      `json:"way_points,omitempty"`
	TransitLine  string           `json:"transit_line,omitzero"`
	Stops        []routeStop      `json:"stops,omitempty"`
}

// Kinds of records. A point was measured; the others are what Google made of points.
const (
	placeKindPoint  = "point"
	kindSignal      = "signal" // what the phone took its owner to do, without a place
	placeKindVisit  = "visit"
	kindActivity    = "activity"     // a way, from where it began
	kindActivityEnd = "activity_end" // where it ended
	kindParking     = "parking"
	placeKindTrip   = "trip"
)

// placeCandidate is another place that a visit may have been to.
type placeCandidate struct {
	PlaceID    string   `json:"place_id,omitzero"`
	Name       string   `json:"name,omitzero"`
	Confidence *float64 `json:"confidence,omitzero"`
}

type pathPoint struct {
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
}

// routeStop is a station of a way, or a place of a trip.
type routeStop struct {
	Name      string   `json:"name,omitzero"`
	Address   string   `json:"address,omitzero"`
	PlaceID   string   `json:"place_id,omitzero"`
	Latitude  *float64 `json:"latitude,omitzero"`
	Longitude *float64 `json:"longitude,omitzero"`
}

// fillKeyAndLabel sets the key and the label of a record. The key of a point has no kind.
func (p *placeRecord) fillKeyAndLabel() {
	parts := []string{"location", p.Timestamp, formatNumber(p.Latitude), formatNumber(p.Longitude)}
	if p.Kind != placeKindPoint {
		parts = append(parts, p.Kind, p.PlaceID)
	}
	p.ID = hashedID(parts...)
	p.Label = cmp.Or(p.PlaceName, p.Address, p.TransitLine, p.SemanticType, p.Activity)
}

// historyListNames are the names of the lists that each form of the history has.
var historyListNames = []string{"locations", "timelineObjects", "semanticSegments", "rawSignals"}

// readPlaces reads points, whatever form the history has: raw records, months of visits and
// ways, or what a phone itself exports.
func readPlaces(ctx context.Context, m *localarchive.Member) error {
	in, err := m.Open(ctx, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	return placesFrom(ctx, m, in)
}

func placesFrom(ctx context.Context, m *localarchive.Member, in io.Reader) error {
	var from localarchive.ListPlace
	m.State(&from)
	return localarchive.ReadSomeLists(ctx, in, from, historyListNames,
		func(at localarchive.ListPlace, element jsontext.Value) error {
			var points []placeRecord
			var known bool
			switch at.List {
			case "locations":
				points, known = readRawPoint(element)
			case "timelineObjects":
				points, known = monthPoints(element)
			case "rawSignals":
				points, known = signalPoint(element)
				if known && len(points) == 0 {
					m.Skip("Wi-Fi scans")
				}
			default:
				points, known = phonePoints(element)
			}
			if !known {
				m.Row(at.Index, int64(len(element)))
			}
			for i := range points {
				m.Emit("location_history", connectorkit.Upsert(&points[i]))
			}
			at.Index++
			return m.Place(ctx, func() any { return at })
		}, func(name string) {
			if name == "userLocationProfile" {
				name = "Frequent places"
			}
			m.Skip(name)
		})
}

func formatNumber(n *float64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatFloat(*n, 'f', 7, 64)
}

// degreesFromE7 is a coordinate in ten millionths of a degree. Some were written as if they had no sign.
func degreesFromE7(n *int64) *float64 {
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

func readRawPoint(element jsontext.Value) ([]placeRecord, bool) {
	var s struct {
		LatitudeE7  *int64         `json:"latitudeE7"`
		LongitudeE7 *int64         `json:"longitudeE7"`
		Accuracy    *float64       `json:"accuracy"`
		Velocity    *float64       `json:"velocity"`
		Altitude    *float64       `json:"altitude"`
		Heading     *float64       `json:"heading"`
		Source      string         `json:"source"`
		Timestamp   string         `json:"timestamp"`
		TimestampMs jsontext.Value `json:"timestampMs"`
		Activity    []struct {
			Activity []struct {
				Type       string  `json:"type"`
				Confidence float64 `json:"confidence"`
			} `json:"activity"`
		} `json:"activity"`
	}
	if json.Unmarshal(element, &s, lenientDecoding) != nil {
		return nil, false
	}
	p := placeRecord{
		Kind: placeKindPoint, Timestamp: cmp.Or(parseExportTime(s.Timestamp), milliseconds(s.TimestampMs)),
		Latitude:  degreesFromE7(s.LatitudeE7),
		Longitude: degreesFromE7(s.LongitudeE7),
		Accuracy:  s.Accuracy, Velocity: s.Velocity, Altitude: s.Altitude, Heading: s.Heading, Source: s.Source,
	}
	if p.Timestamp == "" {
		return nil, false
	}
	best := -1.0
	for _, a := range s.Activity {
		for _, one := range a.Activity {
			if one.Confidence > best {
				p.Activity, best = one.Type, one.Confidence
			}
		}
	}
	p.fillKeyAndLabel()
	return []placeRecord{p}, true
}

// milliseconds returns a time since 1970 from a number or a text; empty when there is none.
func milliseconds(v jsontext.Value) string {
	ms, err := strconv.ParseInt(strings.Trim(string(v), `"`), 10, 64)
	if err != nil || ms <= 0 || ms > 253402300799999 {
		return ""
	}
	return time.UnixMilli(ms).UTC().Format(time.RFC3339Nano)
}

// signalPoint is what a phone measured: a position, or what its owner seemed to do. A scan of Wi-Fi
// stations returns none.
func signalPoint(element jsontext.Value) ([]placeRecord, bool) {
	var s struct {
		Position *struct {
			LatLng      string   `json:"LatLng"`
			SmallLatLng string   `json:"latLng"`
			Accuracy    *float64 `json:"accuracyMeters"`
			Altitude    *float64 `json:"altitudeMeters"`
			Source      string   `json:"source"`
			Timestamp   string   `json:"timestamp"`
			Speed       *float64 `json:"speedMetersPerSecond"`
		} `json:"position"`
		Record *struct {
			Activities []struct {
				Type       string  `json:"type"`
				Confidence float64 `json:"confidence"`
			} `json:"probableActivities"`
			Timestamp string `json:"timestamp"`
		} `json:"activityRecord"`
		Scan jsontext.Value `json:"wifiScan"`
	}
	if json.Unmarshal(element, &s, lenientDecoding) != nil || s.Position == nil && s.Record == nil {
		return nil, s.Scan != nil
	}
	var out []placeRecord
	if at := s.Position; at != nil {
		p := placeRecord{Kind: placeKindPoint, Timestamp: parseExportTime(at.Timestamp), Accuracy: at.Accuracy,
			Altitude: at.Altitude,
			Velocity: at.Speed, Source: at.Source}
		p.Latitude, p.Longitude = parseDegrees(cmp.Or(at.LatLng, at.SmallLatLng))
		out = append(out, p)
	}
	if r := s.Record; r != nil {
		p := placeRecord{Kind: kindSignal, Timestamp: parseExportTime(r.Timestamp)}
		best := -1.0
		for _, a := range r.Activities {
			if a.Confidence > best {
				p.Activity, best = a.Type, a.Confidence
			}
		}
		out = append(out, p)
	}
	return completeTimedPoints(out)
}

// completeTimedPoints completes points and drops those without a time; false when it dropped one.
func completeTimedPoints(points []placeRecord) ([]placeRecord, bool) {
	whole := len(points) > 0
	var out []placeRecord
	for _, p := range points {
		if p.Timestamp == "" {
			whole = false
			continue
		}
		p.fillKeyAndLabel()
		out = append(out, p)
	}
	return out, whole
}

// placeDescription is a place: a text, or one within an object.
func placeDescription(v jsontext.Value) string {
	var text string
	if v.Kind() == '"' && json.Unmarshal(v, &text, lenientDecoding) == nil {
		return text
	}
	var within struct {
		LatLng string `json:"latLng"`
	}
	if v.Kind() == '{' && json.Unmarshal(v, &within, lenientDecoding) == nil {
		return within.LatLng
	}
	return ""
}

// parseDegrees reads "40.1°, -3.7°" and "geo:40.1,-3.7".
func parseDegrees(text string) (lat, lon *float64) {
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
