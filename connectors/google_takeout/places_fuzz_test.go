package googletakeout

import (
	"bytes"
	"math"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/localarchive"
)

// FuzzPlaces feeds any input to the three formats of the history, from memory. Every point has a valid time and valid
// degrees, and resuming at any place returns the same points as one read.
func FuzzPlaces(f *testing.F) {
	f.Add([]byte(`{"locations":[{"latitudeE7":401234567,"longitudeE7":-37000000,`+
		`"timestamp":"2024-01-01T10:00:00.123Z"},{"timestampMs":"1772352000000","latitudeE7":4251234567}]}`), uint8(1))
	f.Add([]byte(`{"timelineObjects":[{"placeVisit":{"location":{"latitudeE7":1,"longitudeE7":2},`+
		`"duration":{"startTimestamp":"2023-03-01T10:00:00Z"}}},{"activitySegment":{"duration":{"endTimestamp":"9999-12-3`+
		`1T23:59:59-12:00"}}}]}`), uint8(0))
	f.Add([]byte(`{"semanticSegments":[{"startTime":"2024-05-01T10:00:00Z","timelinePath":[{"point":"geo:40.1,-3.7",`+
		`"durationMinutesOffsetFromStartTime":"1e30"}],"visit":{"topCandidate":{"placeLocation":{"latLng":"1.5°, 2.5°"}}}}]}`), uint8(0))
	f.Add([]byte(`x = [{"startTime":"0001-01-01T00:00:00+12:00","activity":{"start":"geo:NaN,1"}}]`), uint8(2))
	f.Fuzz(func(t *testing.T, content []byte, skip uint8) {
		read := func(from localarchive.ListPlace) (elements []string, end error) {
			end = localarchive.ReadLists(t.Context(), bytes.NewReader(content), from, historyListNames,
				func(at localarchive.ListPlace, element jsontext.Value) error {
					elements = append(elements, at.List+string(element))
					for _, form := range []func(jsontext.Value) ([]placeRecord, bool){readRawPoint, monthPoints, phonePoints} {
						points, _ := form(element)
						for _, p := range points {
							if _, err := time.Parse(time.RFC3339Nano, p.Timestamp); err != nil {
								t.Fatalf("%s: the time %q", element, p.Timestamp)
							}
							for _, degrees := range []*float64{p.Latitude, p.Longitude} {
								if degrees != nil && !(math.Abs(*degrees) <= 180) {
									t.Fatalf("%s: %f degrees", element, *degrees)
								}
							}
						}
					}
					return nil
				})
			return elements, end
		}
		all, end := read(localarchive.ListPlace{})
		if end != nil || len(all) == 0 || jsontext.Value(bytes.TrimSpace(content)).Kind() != '[' {
			return
		}
		n := min(int(skip), len(all))
		rest, end := read(localarchive.ListPlace{Index: int64(n)})
		if end != nil || len(rest) != len(all)-n {
			t.Fatalf("from %d on there are %d of %d elements (%v)", n, len(rest), len(all), end)
		}
	})
}
