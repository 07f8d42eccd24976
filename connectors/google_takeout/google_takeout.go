// Package googletakeout imports archives of Google Takeout: places, videos that were watched,
// searches, and metadata of photos.
//
//	places.go   a point of the location history, in each of its forms
//	visits.go   a visit, a way and a trip
//	activity.go a video that was watched, a search
//	photos.go   the metadata file of a photo
//	guess.go    files with unknown names
//	leftout.go  what an archive holds besides
package googletakeout

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localarchive"
	"github.com/pdpp-go/pdpp/protocol"
)

//go:embed manifest.json
var manifestJSON []byte

// reasonPage marks a part of the archive that is an HTML page with unreadable times.
const reasonPage protocol.Reason = "html_export"

// Connector is the connector of Google Takeout.
func Connector() connectorkit.Connector { return connectorkit.MustNew(manifestJSON, newCollectors) }

func newCollectors(_ context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	places, watched, searches, photos := []string{"location_history"}, []string{"youtube_watch_history", "search_history"},
		[]string{"search_history", "youtube_watch_history"}, []string{"photos"}
	return []connectorkit.Collector{localarchive.Import{
		Dir: s.Env("GOOGLE_TAKEOUT_DIR"), Streams: []string{"location_history", "youtube_watch_history", "search_history",
			"photos"},
		// Names are in the language of the account. Folders are passed through, whatever they are
		// called; files are known by the names that they have in some languages, and by their place.
		Kinds: []localarchive.MemberKind{
			{Name: "places", Patterns: []string{"**/Records.json", "**/Location History.json", "**/Standortverlauf.json",
				"**/Timeline.json", "**/location-history.json", "**/[12][0-9][0-9][0-9]/[12][0-9][0-9][0-9]_*.json"},
				Streams: places, Reason: "where the phone was", Read: readPlaces},
			{Name: "watched", Patterns: []string{"**/watch-history.json", "**/Wiedergabeverlauf.json",
				"**/historial-de-reproducciones.json", "**/historique-des-vidéos-regardées.json",
				"**/cronologia visualizzazioni.json", "**/histórico-de-visualização.json"},
				Streams: watched, Reason: "videos that were watched", Read: readActivity},
			{Name: "video_searches", Patterns: []string{"**/search-history.json", "**/Suchverlauf.json",
				"**/historial-de-búsquedas.json", "**/historique-des-recherches.json", "**/cronologia ricerche.json",
				"**/histórico-de-pesquisas.json"},
				Streams: searches, Reason: "searches for videos", Read: readActivity},
			{Name: "activity", Patterns: []string{"**/MyActivity.json", "**/My Activity.json", "**/MeineAktivitäten.json",
				"**/MiActividad.json", "**/MonActivité.json", "**/Mi actividad.json"},
				Streams: searches, Reason: "searches", Read: readActivity},
			{Name: "pages", Patterns: []string{"**/watch-history.html", "**/search-history.html", "**/Suchverlauf.html",
				"**/MyActivity.html", "**/My Activity.html", "**/Wiedergabeverlauf.html", "**/MeineAktivitäten.html",
				"**/MiActividad.html"},
				Streams: searches, Reason: "activity as a page", Read: func(context.Context, *localarchive.Member) error {
					return localarchive.RefuseMember(reasonPage, "it is a page")
				}},
			{Name: "photos", Patterns: []string{"**/*.supplemental-metadata*.json"}, Streams: photos,
				Reason: "details of photos", Read: readPhotoFile},
			{Name: "by_content", Patterns: []string{"**/*.json"},
				Streams: []string{"photos", "location_history", "youtube_watch_history", "search_history"},
				Reason:  "details of photos, and files of other names", Guess: true, Read: readUnknownFile},
		},
		LeftOut: uncollectedFiles, Packaging: []string{"**/archive_browser.html"},
		Known: []string{"Takeout/**", "**/archive_browser.html"},
		Empty: "the folder holds no Takeout archive; put the parts takeout-...-001.zip, and the phone's Timeline.json, " +
			"into it",
		Limits: localarchive.ArchiveLimits{Entries: 4_000_000, Entry: 16 << 30, Total: 1 << 40},
	}.Source().Collector()}, nil
}

// lenientDecoding reads what exports of many years have.
var lenientDecoding = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

func hashedID(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// parseExportTime returns a time in UTC; empty when the text is no time.
func parseExportTime(text string) string {
	at, err := time.Parse(time.RFC3339Nano, text)
	if at = at.UTC(); err != nil || at.Year() < 1 || at.Year() > 9999 {
		return ""
	}
	return at.Format(time.RFC3339Nano)
}
