package api

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Searches are lists of records that the owner opens again, by name.
type Searches interface {
	// SavedSearches lists them by name.
	SavedSearches(ctx context.Context) ([]SavedSearch, error)
	// SaveSearch keeps one. No two have the same name.
	SaveSearch(ctx context.Context, s NewSearch) (SavedSearch, error)
	RenameSearch(ctx context.Context, id, name string) error
	DeleteSearch(ctx context.Context, id string) error
}

// NewSearch is a search to be saved. Address is that of a list of the console, with what it asks
// for: words, source, kind, fields and times.
type NewSearch struct {
	Name    string `json:"name"`
	Address string `json:"address"`
}

// SavedSearch is an address with a name.
type SavedSearch struct {
	ID        string    `json:"search_id"`
	Name      string    `json:"name"`
	Address   string    `json:"address"`
	CreatedAt time.Time `json:"created_at"`
}

// Words returns the query of a saved full-text search. It returns false for any other list.
func (s SavedSearch) Words() (SearchQuery, bool) {
	u, err := url.Parse(s.Address)
	if err != nil || u.Path != SearchPage && u.Path != oldSearchPage || u.Query().Get("q") == "" {
		return SearchQuery{}, false
	}
	q := u.Query()
	return SearchQuery{Text: q.Get("q"), ConnectionID: q.Get("connection"), Stream: q.Get("stream")}, true
}

// SearchPage is the page that searches records. Searches that were saved earlier name the page as oldSearchPage.
const (
	SearchPage    = "/search"
	oldSearchPage = "/records"
)

// Address is that of the list of what is found.
func (q SearchQuery) Address() string {
	asked := url.Values{"q": {q.Text}}
	if q.ConnectionID != "" {
		asked.Set("connection", q.ConnectionID)
	}
	if q.Stream != "" {
		asked.Set("stream", q.Stream)
	}
	return SearchPage + "?" + asked.Encode()
}

// longestAddress bounds what a search asks for, in bytes.
const longestAddress = 2000

var listAddress = regexp.MustCompile(
	`^/(search|timeline|mail|photos|notes|code|places|health|money|conversations|day/\d{4}-\d{2}-\d{2})$`)

// ListAddress returns the canonical address of the first page of a list, without the current page and without an open
// record. It returns false if the address is not that of a list with a query.
func ListAddress(address string) (string, bool) {
	u, err := url.Parse(address)
	if err != nil || len(address) > longestAddress || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" ||
		!listAddress.MatchString(u.Path) {
		return "", false
	}
	asked, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return "", false
	}
	for name, values := range asked {
		if values = slices.DeleteFunc(values, func(v string) bool { return v == "" }); len(values) == 0 ||
			slices.Contains(placeParameters, name) {
			delete(asked, name)
		} else {
			asked[name] = values[:1]
		}
	}
	if len(asked) == 0 {
		return u.Path, strings.HasPrefix(u.Path, "/day/")
	}
	return u.Path + "?" + asked.Encode(), true
}

// placeParameters are the parameters that hold a position in a list. They do not affect what is listed.
var placeParameters = []string{"cursor", "record", "in", "past", "after"}
