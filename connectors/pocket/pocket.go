// Package pocket imports the exports that Pocket offered before it closed: tables of saved links,
// the older list as a page, and highlights.
//
//	table.go       a row of part_000000.csv to a saved link
//	page.go        an entry of ril_export.html to a saved link
//	annotations.go a highlighted passage
package pocket

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"html"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localarchive"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the Pocket connector.
func Connector() connectorkit.Connector { return connectorkit.MustNew(manifestJSON, newCollectors) }

func newCollectors(_ context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	return []connectorkit.Collector{localarchive.Import{
		Dir: s.Env("POCKET_EXPORT_DIR"), Streams: []string{"items", "highlights"},
		Kinds: []localarchive.MemberKind{
			{Name: "annotations", Patterns: []string{"**/annotations/*.json"}, Streams: []string{"highlights"},
				Reason: "highlighted passages", Read: readAnnotations},
			{Name: "tables", Patterns: []string{"**/*.csv"}, Streams: []string{"items"}, Reason: "saved links",
				Read: readCSVTable},
			{Name: "pages", Patterns: []string{"**/*.html", "**/*.htm"}, Streams: []string{"items"},
				Reason: "saved links, as older exports have them", Read: readHTMLPage},
		},
		Known:   []string{"**/collections/*.json"},
		LeftOut: []localfile.LeftOut{{Name: "Collections", Patterns: []string{"**/collections/*.json"}}},
		Empty:   "the folder holds no Pocket export; put pocket.zip, part_000000.csv or ril_export.html into it",
		Limits:  localarchive.ArchiveLimits{Entry: 1 << 30},
	}.Source().Collector()}, nil
}

// savedItem is a saved link. Members that the export lacks are left out.
type savedItem struct {
	ID        string   `json:"id"`
	URL       string   `json:"url"`
	Title     string   `json:"title,omitzero"`
	TimeAdded string   `json:"time_added,omitzero"`
	Tags      []string `json:"tags"`
	Archived  *bool    `json:"archived,omitzero"`
}

// linkKeys assigns the keys of the links of one file: the address, with the time added when the file repeats an
// address.
type linkKeys map[[8]byte]bool

func (l linkKeys) newSavedItem(address, title, added, status string, tags []string) (savedItem, bool) {
	address = strings.TrimSpace(address)
	if u, err := url.Parse(address); address == "" || err == nil && u.Scheme == "" || err != nil &&
		!strings.Contains(address, "://") {
		return savedItem{}, false
	}
	out := savedItem{URL: address, Title: strings.TrimSpace(strings.ReplaceAll(title, "\r\n", "\n")),
		TimeAdded: parseUnixTime(added),
		Tags:      []string{}}
	for _, tag := range tags {
		if tag = strings.TrimSpace(html.UnescapeString(tag)); tag != "" {
			out.Tags = append(out.Tags, tag)
		}
	}
	switch strings.ToLower(strings.TrimSpace(status)) {
	case "archive", "archived", "read":
		yes := true
		out.Archived = &yes
	case "unread":
		no := false
		out.Archived = &no
	}
	key := normalised(address)
	sum := sha256.Sum256([]byte(key))
	short := [8]byte(sum[:8])
	if l[short] {
		sum = sha256.Sum256([]byte(key + "\x00" + out.TimeAdded))
	}
	l[short] = true
	out.ID = hex.EncodeToString(sum[:16])
	return out, true
}

// normalised is an address without what does not change where it leads.
func normalised(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	switch {
	case u.Scheme == "http":
		u.Host = strings.TrimSuffix(u.Host, ":80")
	case u.Scheme == "https":
		u.Host = strings.TrimSuffix(u.Host, ":443")
	}
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String()
}

// parseUnixTime reads seconds since 1970; empty when there is no time.
func parseUnixTime(text string) string {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n <= 0 || n >= 253402300800 {
		return ""
	}
	return time.Unix(n, 0).UTC().Format(time.RFC3339)
}
