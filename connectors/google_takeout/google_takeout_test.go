package googletakeout_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pdpp/connectorkit/localarchive/archivetest"
	googletakeout "pdpp/connectors/google_takeout"
)

func imported(t testing.TB, files ...archivetest.File) *archivetest.Kept {
	t.Helper()
	dir := t.TempDir()
	archivetest.Unpacked(t, dir, files...)
	return archivetest.New(t, googletakeout.Connector(), map[string]string{"GOOGLE_TAKEOUT_DIR": dir})
}

// TestPlaces holds every form of the history against what is stored.
func TestPlaces(t *testing.T) {
	for name, c := range map[string]struct{ file, content, want string }{
		"raw":     {"Records.json", `{"locations":[{"latitudeE7":401234567,"longitudeE7":-37000000,"timestamp":"2024-01-01T10:00:00.123Z","altitude":650,"velocity":1}]}`, "2024-01-01T10:00:00.123Z 40.1234567 -3.7"},
		"months":  {"2023/2023_MARCH.json", `{"timelineObjects":[{"placeVisit":{"location":{"latitudeE7":401234567,"longitudeE7":-37000000},"duration":{"startTimestamp":"2023-03-01T10:00:00Z"}}}]}`, "2023-03-01T10:00:00Z 40.1234567 -3.7"},
		"ways":    {"2023/2023_MAERZ.json", `{"timelineObjects":[{"activitySegment":{"startLocation":{"latitudeE7":10000000,"longitudeE7":20000000},"endLocation":{"latitudeE7":30000000,"longitudeE7":40000000},"duration":{"startTimestamp":"2023-03-01T10:00:00Z","endTimestamp":"2023-03-01T11:00:00Z"},"activityType":"WALKING"}}]}`, "2023-03-01T10:00:00Z 1 2 2023-03-01T11:00:00Z 3 4"},
		"Android": {"Timeline.json", `{"semanticSegments":[{"startTime":"2024-05-01T10:00:00.000+02:00","endTime":"2024-05-01T11:00:00.000+02:00","visit":{"topCandidate":{"placeLocation":{"latLng":"40.1°, -3.7°"}}}}],"rawSignals":[]}`, "2024-05-01T08:00:00Z 40.1 -3.7"},
		"iOS":     {"location-history.json", `[{"startTime":"2024-05-01T10:00:00Z","timelinePath":[{"point":"geo:40.1,-3.7","durationMinutesOffsetFromStartTime":"5"}]},{"startTime":"2024-05-01T12:00:00Z","visit":{"topCandidate":{"placeLocation":"geo:1.5,2.5"}}}]`, "2024-05-01T10:05:00Z 40.1 -3.7 2024-05-01T12:00:00Z 1.5 2.5"},
	} {
		k := imported(t, archivetest.File{Name: c.file, Content: c.content}).Run()
		var got []string
		for key := range k.Records["location_history"] {
			r := k.Fields("location_history", key)
			got = append(got, fmt.Sprint(r["timestamp"], " ", r["latitude"], " ", r["longitude"]))
		}
		slices.Sort(got)
		if text := strings.Join(got, " "); text != c.want || len(k.Gaps) != 0 {
			t.Errorf("%s: %s %v, want %s", name, text, k.Reasons(), c.want)
		}
	}
}

// TestActivity tells videos from searches in several languages.
func TestActivity(t *testing.T) {
	k := imported(t,
		archivetest.File{Name: "Takeout/YouTube und YouTube Music/Verlauf/Wiedergabeverlauf.json", Content: `[{"header":"YouTube","title":"Der Hafen angesehen","titleUrl":"https://www.youtube.com/watch?v\u003dx","time":"2026-01-01T10:00:00.000Z"}]`},
		archivetest.File{Name: "Takeout/Meine Aktivitäten/Google Suche/MeineAktivitäten.json", Content: `[{"header":"Google Suche","title":"Nach \"Segel\" gesucht","titleUrl":"https://www.google.com/search?q\u003dSegel","time":"2026-01-01T11:00:00Z"},{"header":"Google Suche","title":"x besucht","time":"2026-01-01T12:00:00Z"},{"title":"no time"}]`},
	).Run()
	var got []string
	for _, stream := range []string{"youtube_watch_history", "search_history"} {
		for key := range k.Records[stream] {
			r := k.Fields(stream, key)
			got = append(got, fmt.Sprint(r["video_title"], r["query"], "|", r["watched_at"], r["timestamp"]))
		}
	}
	if text := fmt.Sprint(got, k.Reasons(), k.Account("activity").LinesByKind["other activity"]); text != "[Der Hafen<nil>|2026-01-01T10:00:00Z<nil> <nil>Segel|<nil>2026-01-01T11:00:00Z] map[row_unreadable:1] 1" {
		t.Errorf("stored: %s", text)
	}
}

// FuzzArchive feeds anything to each of the parsers: the run ends well.
func FuzzArchive(f *testing.F) {
	f.Add(`{"locations":[{"latitudeE7":401234567,"longitudeE7":-37000000,"timestamp":"2024-01-01T10:00:00.123Z"}]}`, uint8(0))
	f.Add(`{"semanticSegments":[{"startTime":"2024-05-01T10:00:00Z","timelinePath":[{"point":"40.1°, -3.7°","time":"2024-05-01T10:00:00Z"}]}]}`, uint8(0))
	f.Add(`[{"header":"YouTube","title":"Watched x","titleUrl":"https://www.youtube.com/watch?v=x","time":"2026-01-01T10:00:00Z"}]`, uint8(1))
	f.Add(`{"title":"IMG.jpg","photoTakenTime":{"timestamp":"1699990000"},"geoData":{"latitude":1.5,"longitude":2}}`, uint8(2))
	f.Fuzz(func(t *testing.T, content string, which uint8) {
		name := []string{"Records.json", "MyActivity.json", "IMG.jpg.json"}[which%3]
		imported(t, archivetest.File{Name: name, Content: content}).Run()
	})
}
