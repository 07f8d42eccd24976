package googletakeout

import (
	"context"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localarchive"
)

type photoRecord struct {
	ID          string   `json:"id"`
	Filename    string   `json:"filename"`
	EventTime   string   `json:"event_time"`
	Title       string   `json:"title,omitzero"`
	Description string   `json:"description,omitzero"`
	Latitude    *float64 `json:"latitude,omitzero"`
	Longitude   *float64 `json:"longitude,omitzero"`
	Altitude    *float64 `json:"altitude,omitzero"`
	UploadedAt  string   `json:"uploaded_at,omitzero"`
	URL         string   `json:"url,omitzero"`
	People      []string `json:"people,omitempty"`
	Views       *int64   `json:"views,omitzero"`
	Favorite    bool     `json:"favorite,omitzero"`
	Archived    bool     `json:"archived,omitzero"`
	Trashed     bool     `json:"trashed,omitzero"`
	Origin      string   `json:"origin,omitzero"`
	Hydration   string   `json:"hydration_status"`
	Error       string   `json:"hydration_error,omitzero"`
}

// photoTime is a time in seconds since 1970, as a text.
type photoTime struct {
	Timestamp string `json:"timestamp"`
}

// formatTime returns the time in the format of records; empty when there is none.
func (m photoTime) formatTime() string {
	at, err := strconv.ParseInt(m.Timestamp, 10, 64)
	if err != nil || at < -62135596800 || at > 253402300799 {
		return ""
	}
	return time.Unix(at, 0).UTC().Format(time.RFC3339)
}

// photoOrigin returns how a photo came to Google, and from which kind of device.
func photoOrigin(origin map[string]jsontext.Value) string {
	for _, name := range slices.Sorted(maps.Keys(origin)) {
		var device struct {
			Type string `json:"deviceType"`
		}
		_ = json.Unmarshal(origin[name], &device, lenientDecoding) // not every origin has a device
		return strings.TrimSpace(name + " " + device.Type)
	}
	return ""
}

// maxSidecar bounds the metadata file of one photo.
const maxSidecar = 1 << 20

type geoPosition struct {
	Latitude  *float64 `json:"latitude"`
	Longitude *float64 `json:"longitude"`
	Altitude  *float64 `json:"altitude"`
}

// isKnown reports whether the position is set; both coordinates are zero when it is not.
func (p geoPosition) isKnown() bool {
	return p.Latitude != nil && p.Longitude != nil && (*p.Latitude != 0 || *p.Longitude != 0)
}

// readPhotoFile reads Google's metadata file of a photo. Copies in albums have the same metadata and become one
// record.
func readPhotoFile(ctx context.Context, m *localarchive.Member) error {
	in, err := m.Open(ctx, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	return readPhotoMetadata(m, in)
}

func readPhotoMetadata(m *localarchive.Member, in io.Reader) error {
	content, err := io.ReadAll(io.LimitReader(in, maxSidecar))
	if err != nil {
		return err
	}
	var s struct {
		Title       string    `json:"title"`
		Description string    `json:"description"`
		Taken       photoTime `json:"photoTakenTime"`
		Created     photoTime `json:"creationTime"`
		URL         string    `json:"url"`
		Views       string    `json:"imageViews"`
		Favorited   bool      `json:"favorited"`
		Archived    bool      `json:"archived"`
		Trashed     bool      `json:"trashed"`
		People      []struct {
			Name string `json:"name"`
		} `json:"people"`
		Origin  map[string]jsontext.Value `json:"googlePhotosOrigin"`
		Geo     geoPosition               `json:"geoData"`
		GeoExif geoPosition               `json:"geoDataExif"`
	}
	err = json.Unmarshal(content, &s, lenientDecoding)
	taken := s.Taken.formatTime()
	if err != nil || taken == "" || s.Title == "" {
		m.Row(0, int64(len(content)))
		return nil
	}
	p := photoRecord{
		Filename: s.Title, EventTime: taken, Title: s.Title, Description: s.Description,
		UploadedAt: s.Created.formatTime(), URL: s.URL, Favorite: s.Favorited, Archived: s.Archived, Trashed: s.Trashed,
		Origin:    photoOrigin(s.Origin),
		Hydration: "unavailable", Error: "the picture itself is not stored",
	}
	for _, who := range s.People {
		p.People = append(p.People, who.Name)
	}
	if n, err := strconv.ParseInt(s.Views, 10, 64); err == nil {
		p.Views = &n
	}
	p.ID = hashedID("photo", p.Filename, p.EventTime)
	for _, at := range []geoPosition{s.Geo, s.GeoExif} {
		if at.isKnown() {
			p.Latitude, p.Longitude, p.Altitude = at.Latitude, at.Longitude, at.Altitude
			break
		}
	}
	m.Emit("photos", connectorkit.Upsert(p))
	return nil
}
