package googletakeout

import (
	"context"
	"io"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"pdpp/connectorkit"
	"pdpp/connectorkit/localarchive"
)

type photo struct {
	ID          string   `json:"id"`
	Filename    string   `json:"filename"`
	EventTime   string   `json:"event_time"`
	Title       string   `json:"title,omitzero"`
	Description string   `json:"description,omitzero"`
	Latitude    *float64 `json:"latitude,omitzero"`
	Longitude   *float64 `json:"longitude,omitzero"`
	Altitude    *float64 `json:"altitude,omitzero"`
	Hydration   string   `json:"hydration_status"`
	Error       string   `json:"hydration_error,omitzero"`
}

// maxSidecar bounds what is said of one photo.
const maxSidecar = 1 << 20

type position struct {
	Latitude  *float64 `json:"latitude"`
	Longitude *float64 `json:"longitude"`
	Altitude  *float64 `json:"altitude"`
}

// known reports whether a position is one: both zero means that there is none.
func (p position) known() bool {
	return p.Latitude != nil && p.Longitude != nil && (*p.Latitude != 0 || *p.Longitude != 0)
}

// readPhoto reads what Google says of a photo in the file beside it. Copies in albums say the
// same, and are one record.
func readPhoto(ctx context.Context, m *localarchive.Member) error {
	in, err := m.Open(ctx, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	content, err := io.ReadAll(io.LimitReader(in, maxSidecar))
	if err != nil {
		return err
	}
	var s struct {
		Title       string `json:"title"`
		Description string `json:"description"`
		Taken       struct {
			Timestamp string `json:"timestamp"`
		} `json:"photoTakenTime"`
		Geo     position `json:"geoData"`
		GeoExif position `json:"geoDataExif"`
	}
	err = json.Unmarshal(content, &s, lenient)
	taken, bad := strconv.ParseInt(s.Taken.Timestamp, 10, 64)
	if err != nil || bad != nil || s.Title == "" || taken < -62135596800 || taken > 253402300799 {
		m.Row(0, int64(len(content)))
		return nil
	}
	p := photo{
		Filename: s.Title, EventTime: time.Unix(taken, 0).UTC().Format(time.RFC3339), Title: s.Title, Description: s.Description,
		Hydration: "unavailable", Error: "the picture itself is not stored",
	}
	p.ID = idOf("photo", p.Filename, p.EventTime)
	for _, at := range []position{s.Geo, s.GeoExif} {
		if at.known() {
			p.Latitude, p.Longitude, p.Altitude = at.Latitude, at.Longitude, at.Altitude
			break
		}
	}
	m.Emit("photos", connectorkit.Upsert(p))
	return nil
}
