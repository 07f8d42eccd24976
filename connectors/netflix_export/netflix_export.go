// Package netflixexport imports Netflix viewing histories: the list of a
// profile with titles and days, and the full export with times, devices and durations.
//
//	activity.go a row of either table
//	dates.go    days that are written in the order of the reader's country
package netflixexport

import (
	"context"
	_ "embed"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localarchive"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the connector of Netflix exports.
func Connector() connectorkit.Connector { return connectorkit.MustNew(manifestJSON, newCollectors) }

// uncollectedFiles are the parts of the full export that are not collected.
var uncollectedFiles = []localfile.LeftOut{
	{Name: "Searches, ratings, lists and other interactions", Patterns: []string{"**/CONTENT_INTERACTION/**"}},
	{Name: "Account and payments", Patterns: []string{"**/ACCOUNT/**", "**/PAYMENT_AND_BILLING/**"}},
	{Name: "Devices and addresses", Patterns: []string{"**/DEVICES/**", "**/IP_ADDRESSES/**"}},
	{Name: "Messages and customer service", Patterns: []string{"**/MESSAGES/**", "**/CUSTOMER_SERVICE/**", "**/SURVEYS/**",
		"**/SOCIAL_MEDIA_CONNECTIONS/**"}},
	{Name: "Profiles", Patterns: []string{"**/PROFILES/**"}},
	{Name: "Clicks and games", Patterns: []string{"**/CLICKSTREAM/**", "**/GAMES/**"}},
}

func newCollectors(_ context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	order := strings.ToLower(strings.TrimSpace(s.Env("NETFLIX_DATE_ORDER")))
	return []connectorkit.Collector{localarchive.Import{
		Dir: s.Env("NETFLIX_EXPORT_DIR"), Streams: []string{"viewing_activity", "previews"},
		Kinds: []localarchive.MemberKind{{
			// A single table may have any name; within the full export there are many others.
			Name: "viewing", Patterns: []string{"**/ViewingActivity*.csv", "**/*[Vv]iewing[Hh]istory*.csv",
				"**/*viewing*history*.csv", "*.csv"},
			Streams: []string{"viewing_activity", "previews"}, Reason: "what was watched", Read: tableReader{order}.readActivity,
		}},
		Settings:  order,
		LeftOut:   uncollectedFiles,
		Known:     []string{"**/CONTENT_INTERACTION/**", "**/Cover Sheet.pdf"},
		Packaging: []string{"**/Cover Sheet.pdf", "**/Additional Information.pdf"},
		Empty:     "the folder holds no Netflix export; put NetflixViewingHistory.csv or the zip of the full export into it",
	}.Source().Collector()}, nil
}
