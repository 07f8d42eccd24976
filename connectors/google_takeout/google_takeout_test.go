package googletakeout_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/inprocess"
	"github.com/pdpp-go/pdpp/connectorkit/localarchive/archivetest"
	googletakeout "github.com/pdpp-go/pdpp/connectors/google_takeout"
)

func imported(t testing.TB, files ...archivetest.PackedFile) *inprocess.MemoryRunner {
	t.Helper()
	dir := t.TempDir()
	archivetest.WriteUnpacked(t, dir, files...)
	return inprocess.NewMemoryRunner(t, googletakeout.Connector(), map[string]string{"GOOGLE_TAKEOUT_DIR": dir})
}

// rows are the named fields of every record of a stream, sorted.
func rows(k *inprocess.MemoryRunner, stream string, fields ...string) string {
	var got []string
	for key := range k.Records[stream] {
		r := k.Fields(stream, key)
		var row []string
		for _, f := range fields {
			if r[f] != nil {
				row = append(row, fmt.Sprint(r[f]))
			}
		}
		got = append(got, strings.Join(row, " "))
	}
	slices.Sort(got)
	return strings.Join(got, "; ")
}

// TestPlaces holds every form of the history against what is stored.
func TestPlaces(t *testing.T) {
	for name, c := range map[string]struct{ file, content, want string }{
		"raw": {"Records.json",
			`{"locations":[{"latitudeE7":401234567,"longitudeE7":-37000000,"timestamp":"2024-01-01T10:00:00.123Z",` +
				`"altitude":650,"velocity":1}]}`, "2024-01-01T10:00:00.123Z 40.1234567 -3.7"},
		"months": {"2023/2023_MARCH.json",
			`{"timelineObjects":[{"placeVisit":{"location":{"latitudeE7":401234567,"longitudeE7":-37000000},` +
				`"duration":{"startTimestamp":"2023-03-01T10:00:00Z"}}}]}`, "2023-03-01T10:00:00Z 40.1234567 -3.7"},
		"older": {"2016/2016_MARCH.json",
			`{"timelineObjects":[{"placeVisit":{"centerLatE7":401234567,"centerLngE7":-37000000,` +
				`"duration":{"startTimestampMs":"1456826400000"}}}]}`, "2016-03-01T10:00:00Z 40.1234567 -3.7"},
		"ways": {"2023/2023_MAERZ.json",
			`{"timelineObjects":[{"activitySegment":{"startLocation":{"latitudeE7":10000000,"longitudeE7":20000000},` +
				`"endLocation":{"latitudeE7":30000000,"longitudeE7":40000000},` +
				`"duration":{"startTimestamp":"2023-03-01T10:00:00Z","endTimestamp":"2023-03-01T11:00:00Z"},` +
				`"activityType":"WALKING"}}]}`, "2023-03-01T10:00:00Z 1 2; 2023-03-01T11:00:00Z 3 4"},
		"Android": {"Timeline.json",
			`{"semanticSegments":[{"startTime":"2024-05-01T10:00:00.000+02:00","endTime":"2024-05-01T11:00:00.000+02:00",` +
				`"visit":{"topCandidate":{"placeLocation":{"latLng":"40.1°, -3.7°"}}}}],"rawSignals":[]}`,
			"2024-05-01T08:00:00Z 40.1 -3.7"},
		"iOS": {"location-history.json",
			`[{"startTime":"2024-05-01T10:00:00Z","timelinePath":[{"point":"geo:40.1,-3.7",` +
				`"durationMinutesOffsetFromStartTime":"5"}]},{"startTime":"2024-05-01T12:00:00Z",` +
				`"visit":{"topCandidate":{"placeLocation":"geo:1.5,2.5"}}}]`, "2024-05-01T10:05:00Z 40.1 -3.7; " +
				"2024-05-01T12:00:00Z 1.5 2.5"},
		"renamed": {"Zeitachse.json",
			`{"semanticSegments":[{"startTime":"2024-05-01T10:00:00Z",` +
				`"visit":{"topCandidate":{"placeLocation":{"latLng":"40.1°, -3.7°"}}}}]}`, "2024-05-01T10:00:00Z 40.1 -3.7"},
	} {
		k := imported(t, archivetest.PackedFile{Name: c.file, Content: c.content}).Run()
		if got := rows(k, "location_history", "timestamp", "latitude", "longitude"); got != c.want || len(k.Gaps()) != 0 {
			t.Errorf("%s: %s %v, want %s", name, got, k.GapReasons(), c.want)
		}
	}
}

// TestVisits shows that the description of a place is kept: its name, address and id, until when
// the visit lasted, visits within it, and the way with its stops between two places.
func TestVisits(t *testing.T) {
	k := imported(t, archivetest.PackedFile{Name: "2023/2023_MARCH.json", Content: `{"timelineObjects":[
		{"placeVisit":{"location":{"latitudeE7":525186000,"longitudeE7":134083000,"placeId":"ChIJr",` +
		`"address":"Rathausstrasse 15, Berlin","name":"Rotes Rathaus","semanticType":"TYPE_WORK"},
			"duration":{"startTimestamp":"2023-03-01T10:00:00Z","endTimestamp":"2023-03-01T11:30:00Z"},` +
		`"placeConfidence":"HIGH_CONFIDENCE","visitConfidence":90,
			"otherCandidateLocations":[{"placeId":"ChIJo","name":"Ratskeller","locationConfidence":12.5}],
			"childVisits":[{"location":{"latitudeE7":525187000,"longitudeE7":134084000,"placeId":"ChIJc",` +
		`"name":"Cafe im Rathaus"},"duration":{"startTimestamp":"2023-03-01T10:30:00Z",` +
		`"endTimestamp":"2023-03-01T10:50:00Z"}}],
			"simplifiedRawPath":{"points":[{"latE7":525186500,"lngE7":134083500,"accuracyMeters":10,` +
		`"timestamp":"2023-03-01T10:05:00Z"}]}}},
		{"activitySegment":{"startLocation":{"latitudeE7":10000000,"longitudeE7":20000000},` +
		`"endLocation":{"latitudeE7":30000000,"longitudeE7":40000000},
			"duration":{"startTimestamp":"2023-03-01T12:00:00Z","endTimestamp":"2023-03-01T13:00:00Z"},"distance":4200,` +
		`"activityType":"IN_SUBWAY",
			"waypointPath":{"waypoints":[{"latE7":11000000,"lngE7":21000000},{"latE7":12000000,"lngE7":22000000}]},
			"transitPath":{"transitStops":[{"latitudeE7":10000000,"longitudeE7":20000000,"name":"Alexanderplatz",` +
		`"placeId":"ChIJs"},{"latitudeE7":30000000,"longitudeE7":40000000,"name":"Pankow"}],"name":"U2"},
			"parkingEvent":{"location":{"latitudeE7":30000001,"longitudeE7":40000001},"timestamp":"2023-03-01T13:01:00Z"}}}]}`}).Run()
	want := "activity 2023-03-01T12:00:00Z 2023-03-01T13:00:00Z IN_SUBWAY 4200 U2 [map[latitude:1.1 longitude:2.1] " +
		"map[latitude:1.2 longitude:2.2]] [map[latitude:1 longitude:2 name:Alexanderplatz place_id:ChIJs] map[latitude:3 " +
		"longitude:4 name:Pankow]]; " +
		"activity_end 2023-03-01T13:00:00Z IN_SUBWAY; parking 2023-03-01T13:01:00Z; point 2023-03-01T10:05:00Z; " +
		"visit 2023-03-01T10:00:00Z 2023-03-01T11:30:00Z Rotes Rathaus Rathausstrasse 15, Berlin ChIJr TYPE_WORK " +
		"[map[confidence:12.5 name:Ratskeller place_id:ChIJo]]; " +
		"visit 2023-03-01T10:30:00Z 2023-03-01T10:50:00Z Cafe im Rathaus ChIJc"
	got := rows(k, "location_history", "kind", "timestamp", "end_timestamp", "place_name", "address", "place_id",
		"semantic_type", "activity_type", "distance_m", "transit_line", "way_points", "stops", "candidates")
	if got != want || len(k.Gaps()) != 0 {
		t.Errorf("stored:\n%s %v\nwant\n%s", got, k.GapReasons(), want)
	}

	k = imported(t, archivetest.PackedFile{Name: "Timeline.json", Content: `{"semanticSegments":[
		{"startTime":"2024-05-01T10:00:00Z","endTime":"2024-05-01T11:00:00Z","visit":{"hierarchyLevel":0,` +
		`"probability":0.9,"topCandidate":{"placeId":"ChIJp","semanticType":"INFERRED_HOME","probability":0.8,` +
		`"placeLocation":{"latLng":"40.1°, -3.7°"}}}},
		{"startTime":"2024-05-01T12:00:00Z","endTime":"2024-05-01T12:30:00Z",` +
		`"activity":{"start":{"latLng":"1.5°, 2.5°"},"end":{"latLng":"3.5°, 4.5°"},"distanceMeters":1500.5,` +
		`"topCandidate":{"type":"CYCLING"},"parking":{"location":{"latLng":"3.6°, 4.6°"},` +
		`"startTime":"2024-05-01T12:31:00Z"}}},
		{"startTime":"2024-05-02T00:00:00Z","endTime":"2024-05-05T00:00:00Z",` +
		`"timelineMemory":{"trip":{"distanceFromOriginKms":120,"destinations":[{"identifier":{"placeId":"ChIJt"}}]}}}],
		"rawSignals":[{"position":{"LatLng":"40.2°, -3.8°","accuracyMeters":13,"altitudeMeters":650.5,"source":"WIFI",` +
		`"timestamp":"2024-05-01T10:01:00Z","speedMetersPerSecond":1.25}},
			{"activityRecord":{"probableActivities":[{"type":"STILL","confidence":0.2},{"type":"WALKING",` +
		`"confidence":0.7}],"timestamp":"2024-05-01T10:02:00Z"}},{"wifiScan":{"deliveryTime":"2024-05-01T10:03:00Z"}}],
		"userLocationProfile":{"frequentPlaces":[{"placeId":"ChIJp"}]}}`}).Run()
	want = "activity 2024-05-01T12:00:00Z 2024-05-01T12:30:00Z 1.5 2.5 CYCLING 1500.5; activity_end " +
		"2024-05-01T12:30:00Z 3.5 4.5 CYCLING; parking 2024-05-01T12:31:00Z 3.6 4.6; " +
		"point 2024-05-01T10:01:00Z 40.2 -3.8 13 650.5 1.25 WIFI; signal 2024-05-01T10:02:00Z WALKING; " +
		"trip 2024-05-02T00:00:00Z 2024-05-05T00:00:00Z 120000 [map[place_id:ChIJt]]; visit 2024-05-01T10:00:00Z " +
		"2024-05-01T11:00:00Z 40.1 -3.7 ChIJp INFERRED_HOME"
	got = rows(k, "location_history", "kind", "timestamp", "end_timestamp", "latitude", "longitude", "place_id",
		"semantic_type", "accuracy_meters", "altitude_m", "velocity_mps", "source", "activity_type", "distance_m", "stops")
	if got != want || len(k.Gaps()) != 0 {
		t.Errorf("stored of a phone's history:\n%s %v\nwant\n%s", got, k.GapReasons(), want)
	}
	if got := fmt.Sprint(reportedLeftOut(t, k, "Timeline.json")); got != "map[Frequent places:1 Wi-Fi scans:1]" {
		t.Errorf("left out: %s", got)
	}
}

// reportedLeftOut is what the account of a file names.
func reportedLeftOut(t *testing.T, k *inprocess.MemoryRunner, file string) map[string]int64 {
	t.Helper()
	for key := range k.Records["coverage_diagnostics"] {
		if c := archivetest.StoredCoverage(t, k, key); c.File == file {
			return c.LeftOut
		}
	}
	return nil
}

// TestPhotos reads descriptions of photos under every name that archives of several years have for
// it: the name of the picture, of any form, cut at 46 characters, with a suffix that is cut anywhere
// and a number that is somewhere.
func TestPhotos(t *testing.T) {
	var files []archivetest.PackedFile
	names := []string{
		"IMG_1.jpg.json", "IMG_2.GIF.json", "IMG_3.WEBP.json", "IMG_4.TIFF.json", "IMG_5.bmp.json", "IMG_6.avi.json",
		"IMG_7.webm.json", "IMG_8.m4v.json", "IMG_9.mkv.json", "IMG_10.MPG.json",
		"IMG_11.CR2.json", "PXL_20230101_120000.MP.json", "a name that is so long that the archive had to.json",
		"IMG_12(1).jpg.json", "IMG_13.jpg(1).json", "IMG_14.HEIC.supplemental-metadata.json",
		"IMG_15.HEIC.supplemental-metadata(2).json", "IMG_16_with_a_long_name_of_a_camera.jpg.supplem.json",
		"IMG_17_with_a_long_name_of_a_camera_an.jpg.s.json", "IMG_18_with_a_long_name_of_a_camera_and..json",
		"IMG_19_edited.json",
	}
	for i, name := range names {
		files = append(files, archivetest.PackedFile{Name: "Takeout/Google Fotos/Fotos von 2023/" + name,
			Content: fmt.Sprintf(`{"title":"%d.jpg","description":"","imageViews":"7",`+
				`"creationTime":{"timestamp":"1699990001"},"photoTakenTime":{"timestamp":"%d"},"people":[{"name":"Mara"}],`+
				`"favorited":true,"url":"https://photos.google.com/photo/x",`+
				`"googlePhotosOrigin":{"mobileUpload":{"deviceType":"ANDROID_PHONE"}}}`, i, 1699990000+i)})
	}
	files = append(files,
		archivetest.PackedFile{Name: "Takeout/Google Fotos/Urlaub/Metadaten.json",
			Content: `{"title":"Urlaub","description":"","access":"protected","date":{"timestamp":"1699990000"}}`},
		archivetest.PackedFile{Name: "Takeout/Google Fotos/Urlaub/IMG_1.jpg", Content: "\xff\xd8"},
		archivetest.PackedFile{Name: "Takeout/Google Fotos/print-subscriptions.json", Content: `{}`})
	dir := t.TempDir()
	archivetest.WriteFile(t, dir+"/takeout.zip", archivetest.PackZip(t, files...))
	k := inprocess.NewMemoryRunner(t, googletakeout.Connector(), map[string]string{"GOOGLE_TAKEOUT_DIR": dir}).Run()
	if n := len(k.Records["photos"]); n != len(names) || len(k.Gaps()) != 0 {
		t.Errorf("%d of %d photos, %v", n, len(names), k.GapReasons())
	}
	if got := rows(k, "photos", "people", "favorite", "views", "url", "uploaded_at", "origin"); !strings.HasPrefix(got,
		"[Mara] true 7 https://photos.google.com/photo/x 2023-11-14T19:26:41Z mobileUpload ANDROID_PHONE;") {
		t.Errorf("stored of a photo: %s", got)
	}
	if got := fmt.Sprint(reportedLeftOut(t, k,
		"takeout.zip")); got != "map[Google Photos albums:1 Google Photos print orders:1 Photos and videos themselves:1]" {
		t.Errorf("left out: %s", got)
	}
}

// TestActivity separates videos from searches in several languages.
func TestActivity(t *testing.T) {
	k := imported(t,
		archivetest.PackedFile{Name: "Takeout/YouTube und YouTube Music/Verlauf/Wiedergabeverlauf.json",
			Content: `[{"header":"YouTube","title":"Der Hafen angesehen","titleUrl":"https://www.youtube.com/` +
				`watch?v\u003dx","time":"2026-01-01T10:00:00.000Z"},{"header":"YouTube","title":"Watched short",` +
				`"titleUrl":"https://www.youtube.com/shorts/y","time":"2026-01-01T10:01:00Z","details":[{"name":"From Google ` +
				`Ads"}]}]`},
		archivetest.PackedFile{Name: "Takeout/YouTube und YouTube Music/Verlauf/Suchverlauf.json",
			Content: `[{"header":"YouTube","title":"Nach \"Anker\" gesucht","titleUrl":"https://www.youtube.com/` +
				`results?search_query\u003dAnker","time":"2026-01-01T10:05:00Z"}]`},
		archivetest.PackedFile{Name: "Takeout/YouTube/history/search-history.json",
			Content: `[{"header":"YouTube","title":"Searched for knots","titleUrl":"https://www.youtube.com/` +
				`results?search_query\u003dknots","time":"2026-01-01T10:06:00Z"}]`},
		archivetest.PackedFile{Name: "Takeout/Meine Aktivitäten/Google Suche/MeineAktivitäten.json",
			Content: `[{"header":"Google Suche","title":"Nach \"Segel\" gesucht","titleUrl":"https://www.google.com/` +
				`search?q\u003dSegel","time":"2026-01-01T11:00:00Z"},{"header":"Google Suche","title":"x besucht",` +
				`"time":"2026-01-01T12:00:00Z"},{"title":"no time"}]`},
	).Run()
	if got := rows(k, "youtube_watch_history", "video_title", "watched_at",
		"is_ad"); got != "Der Hafen 2026-01-01T10:00:00Z; short 2026-01-01T10:01:00Z true" {
		t.Errorf("watched: %s", got)
	}
	if got := rows(k, "search_history", "query", "product",
		"timestamp"); got != "Anker YouTube 2026-01-01T10:05:00Z; Segel Google Suche 2026-01-01T11:00:00Z; knots YouTube "+
		"2026-01-01T10:06:00Z" {
		t.Errorf("searched: %s", got)
	}
	if got := fmt.Sprint(k.GapReasons(),
		archivetest.StoredCoverage(t, k,
			"activity").LinesByKind); got != "map[row_unreadable:1] map[Activity that is no search, Google Suche:1 "+
		"row_unreadable:1]" {
		t.Errorf("left out: %s", got)
	}
}

// TestLeftOut names what an archive of many products holds and is not collected.
func TestLeftOut(t *testing.T) {
	var files []archivetest.PackedFile
	for _, name := range []string{
		"Chrome/History.json", "Chrome/Bookmarks.html", "Keep/a.json", "Google Chat/Groups/DM x/messages.json",
		"Fit/Daily activity metrics/2024-01-01.csv", "Fitbit/Heart Rate/heart_rate-2024-01-01.json",
		"Google Play Store/Installs.json",
		"Saved/Want to go.csv", "Maps (your places)/Saved Places.json", "Contacts/All Contacts/All Contacts.vcf",
		"Calendar/mara@example.org.ics", "Tasks/Tasks.json", "YouTube and YouTube Music/comments/comments.csv",
		"YouTube and YouTube Music/subscriptions/subscriptions.csv",
		"YouTube and YouTube Music/playlists/Watch later-videos.csv", "Mail/All mail Including Spam and Trash.mbox",
		"Drive/letter.docx", "Location History (Timeline)/Settings.json",
		"Location History (Timeline)/Timeline Edits.json", "Google Pay/Google transactions/transactions.csv",
		"Gemini/gems.json", "Home App/devices.json", "Something New/thing.json",
	} {
		files = append(files, archivetest.PackedFile{Name: "Takeout/" + name, Content: "{}"})
	}
	dir := t.TempDir()
	archivetest.WriteFile(t, dir+"/takeout.zip", archivetest.PackZip(t, files...))
	k := inprocess.NewMemoryRunner(t, googletakeout.Connector(), map[string]string{"GOOGLE_TAKEOUT_DIR": dir}).Run()
	var named int64
	for _, n := range reportedLeftOut(t, k, "takeout.zip") {
		named += n
	}
	for key := range k.Records["coverage_diagnostics"] {
		if c := archivetest.StoredCoverage(t, k, key); c.File != "" &&
			(fmt.Sprint(c.Unrecognized) != "map[Takeout/Something New/thing.json:1]" ||
				named != int64(len(files)-1)) {
			t.Errorf("%d of %d named: %v, not recognized %v", named, len(files)-1, c.LeftOut, c.Unrecognized)
		}
	}
	if named == 0 || len(k.Gaps()) != 0 {
		t.Errorf("nothing is named; gaps %v", k.GapReasons())
	}
}

// FuzzArchive feeds anything to each of the parsers: the run ends well.
func FuzzArchive(f *testing.F) {
	f.Add(`{"locations":[{"latitudeE7":401234567,"longitudeE7":-37000000,"timestamp":"2024-01-01T10:00:00.123Z"}]}`,
		uint8(0))
	f.Add(`{"semanticSegments":[{"startTime":"2024-05-01T10:00:00Z","timelinePath":[{"point":"40.1°, -3.7°",`+
		`"time":"2024-05-01T10:00:00Z"}]}]}`, uint8(0))
	f.Add(`[{"header":"YouTube","title":"Watched x","titleUrl":"https://www.youtube.com/watch?v=x",`+
		`"time":"2026-01-01T10:00:00Z"}]`, uint8(1))
	f.Add(`{"title":"IMG.jpg","photoTakenTime":{"timestamp":"1699990000"},"geoData":{"latitude":1.5,"longitude":2}}`,
		uint8(2))
	f.Fuzz(func(t *testing.T, content string, which uint8) {
		name := []string{"Records.json", "MyActivity.json", "IMG.jpg.json"}[which%3]
		imported(t, archivetest.PackedFile{Name: name, Content: content}).Run()
	})
}
