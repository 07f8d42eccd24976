// Package browserhistory collects what browsers remember on this computer: visits of Chrome,
// Chromium, Edge, Brave, Firefox and Safari, searches and downloads of the first four, and
// bookmarks of Firefox. The reader of local files is connectorkit/localfile.
//
//	places.go    where browsers keep their profiles, and what is done with the files there
//	table.go     one table of a foreign database, read on from where it was
//	chromium.go  visits, searches and downloads of Chrome and its relatives
//	firefox.go   visits and bookmarks of Firefox
//	safari.go    visits of Safari
//	epoch.go     the times that they count from
//	address.go   an address without what opens doors
package browserhistory

import (
	"context"
	_ "embed"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the connector of browsers' histories.
func Connector() connectorkit.Connector { return connectorkit.MustNew(manifestJSON, newCollectors) }

func newCollectors(_ context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	s.MaskSecrets(s.Env("PDPP_BROWSER_HISTORY_REDACT"))
	roots, stores := findProfiles(s.Env, parseExcludedHosts(s.Env("PDPP_BROWSER_HISTORY_EXCLUDE_HOSTS")))
	source := localfile.Source{Streams: []string{"visits", "searches", "downloads", "bookmarks"}, Roots: roots,
		Stores: stores}
	return []connectorkit.Collector{source.Collector()}, nil
}
