package files

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Takeout makes a folder with archives of a Google account.
func Takeout(dir string, c Config) (World, error) { return newImports(dir, c, &takeoutAccount{}) }

type takeoutAccount struct {
	points  []time.Time
	videos  []time.Time
	titles  []string
	queries []string
	asked   []time.Time
	photos  []time.Time
	phone   bool
}

func (*takeoutAccount) exportName(t *Tree) string {
	return fmt.Sprintf("takeout-20260301T1011%02dZ-001", t.serial%60)
}

func (k *takeoutAccount) growAccount(t *Tree) {
	t.advanceClock()
	now := t.clock.Truncate(time.Millisecond)
	k.points = append(k.points, now)
	switch t.rng.IntN(3) {
	case 0:
		k.videos, k.titles = append(k.videos, now), append(k.titles, t.randomSentence())
	case 1:
		k.queries, k.asked = append(k.queries, t.randomSentence()), append(k.asked, now)
	default:
		k.photos = append(k.photos, now.Truncate(time.Second))
	}
}

// exportMembers alternates between the history of the cloud and the history of a phone.
func (k *takeoutAccount) exportMembers(*Tree) []Member {
	k.phone = !k.phone
	out := []Member{{Name: "Takeout/archive_browser.html", Content: []byte("<html></html>")}, k.placesMember(),
		k.watchHistoryMember(),
		k.searchHistoryMember()}
	for i, at := range k.photos {
		title := fmt.Sprintf("IMG_%04d.jpg", i)
		lat, lon := 59.3+float64(i)/1000, 18.1
		side := encodeJSON(map[string]any{
			"title": title, "url": "https://photos.google.com/photo/x",
			"creationTime": map[string]any{"timestamp": "1772352000", "formatted": "x"}, "description": "by the harbour",
			"photoTakenTime": map[string]any{"timestamp": strconv.FormatInt(at.Unix(), 10), "formatted": "x"},
			"geoData":        map[string]any{"latitude": 0.0, "longitude": 0.0},
			"geoDataExif":    map[string]any{"latitude": lat, "longitude": lon, "altitude": 3.0},
		})
		item := Item{Stream: "photos", Fields: map[string]any{"filename": title, "event_time": at.UTC().Format(time.RFC3339),
			"latitude": lat, "longitude": lon, "description": "by the harbour"}}
		for _, folder := range []string{"Photos from 2026", "Harbour album"} {
			name := "Takeout/Google Photos/" + folder + "/" + title
			out = append(out, Member{Name: name, Content: []byte("\xff\xd8picture")},
				Member{Name: name + ".supplemental-metadata.json", Content: []byte(side), Items: []Item{item}})
		}
	}
	return out
}

func (k *takeoutAccount) placesMember() Member {
	var list []any
	m := Member{Name: "Takeout/Location History (Timeline)/Records.json"}
	if k.phone {
		m.Name = "Takeout/Timeline.json"
	}
	for i, at := range k.points {
		lat, lon := 59.5+float64(i)/10000, -18.25
		text := at.UTC().Format(time.RFC3339Nano)
		if k.phone {
			list = append(list, map[string]any{"startTime": text, "endTime": text,
				"timelinePath": []any{map[string]any{"point": fmt.Sprintf("%.7f°, %.7f°", lat, lon), "time": text}}})
		} else {
			list = append(list, map[string]any{"latitudeE7": int64(lat*1e7 + 0.5), "longitudeE7": int64(lon * 1e7),
				"accuracy": 12, "deviceTag": -1204523, "platformType": "ANDROID", "timestamp": text,
				"activity": []any{map[string]any{"activity": []any{map[string]any{"type": "STILL", "confidence": 20},
					map[string]any{"type": "WALKING", "confidence": 80}}}}})
		}
		m.Items = append(m.Items, Item{Stream: "location_history",
			Fields: map[string]any{"timestamp": text, "longitude": lon}})
	}
	name := "locations"
	if k.phone {
		name = "semanticSegments"
	}
	m.Content = []byte(encodeJSON(map[string]any{name: list,
		"rawSignals":          []any{map[string]any{"wifiScan": map[string]any{"deliveryTime": "2026-03-01T08:00:00Z"}}},
		"userLocationProfile": map[string]any{}}))
	return m
}

func (k *takeoutAccount) watchHistoryMember() Member {
	var list []any
	m := Member{Name: "Takeout/YouTube and YouTube Music/history/watch-history.json"}
	for i, at := range k.videos {
		link := fmt.Sprintf("https://www.youtube.com/watch?v=%08d", i)
		one := map[string]any{"header": "YouTube", "title": "Watched " + k.titles[i], "titleUrl": link,
			"time":      at.UTC().Format(time.RFC3339Nano),
			"subtitles": []any{map[string]any{"name": "Harbour TV", "url": "https://www.youtube.com/channel/x"}}}
		fields := map[string]any{"watched_at": at.UTC().Format(time.RFC3339Nano), "video_url": link,
			"video_title": strings.TrimSpace(k.titles[i]), "channel_name": "Harbour TV"}
		list = append(list, one)
		m.Items = append(m.Items, Item{Stream: "youtube_watch_history", Fields: fields})
	}
	m.Content = []byte("\xef\xbb\xbf" + encodeJSON(list))
	return m
}

func (k *takeoutAccount) searchHistoryMember() Member {
	list := []any{map[string]any{"header": "Search", "title": "Visited a.example",
		"titleUrl": "https://www.google.com/url?q=https://a.example", "time": "2026-03-01T08:00:00Z"}}
	m := Member{Name: "Takeout/Mi actividad/Búsqueda/MiActividad.json"}
	for i, at := range k.asked {
		list = append(list, map[string]any{"header": "Search", "title": "Has buscado " + k.queries[i],
			"time": at.UTC().Format(time.RFC3339Nano)})
		m.Items = append(m.Items, Item{Stream: "search_history",
			Fields: map[string]any{"timestamp": at.UTC().Format(time.RFC3339Nano), "query": strings.TrimSpace(k.queries[i]),
				"product": "Search"}})
	}
	m.Content = []byte(encodeJSON(list))
	return m
}

func (k *takeoutAccount) hostileMembers(*Tree) []Member {
	return []Member{
		{Name: "Takeout/My Activity/Search/MyActivity.html", Content: []byte("<html></html>")},
		{Name: "Takeout/Location History/Location History.json",
			Content: []byte(`{"locations":[{"latitudeE7":1},7,{"timestampMs":"1772352000000","latitudeE7":4251234567,` +
				`"longitudeE7":10}]}`),
			Items: []Item{{Stream: "location_history",
				Fields: map[string]any{"timestamp": "2026-03-01T08:00:00Z", "latitude": -4.3732729}}}},
		{Name: "Takeout/YouTube/history/watch-history.json",
			Content: []byte(`[{"header":"YouTube","title":"Watched a video that has been removed",` +
				`"time":"2026-03-01T08:00:01Z"},{"title":"no time"},[]]`),
			Items: []Item{{Stream: "youtube_watch_history", Fields: map[string]any{"watched_at": "2026-03-01T08:00:01Z",
				"video_title": "a video that has been removed"}}}},
	}
}
