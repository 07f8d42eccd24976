// Package jellyfin collects the films, episodes and music that a person played with Jellyfin, and their favourites.
//
//	manifest.json   what it declares: streams, schemas, the form for address, user and API key
//	jellyfin.go     where the lists are
package jellyfin

import (
	_ "embed"
	"maps"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the Jellyfin connector.
func Connector() connectorkit.Connector { return rest.MustNew(manifestJSON, source) }

var source = rest.Source{
	Base: rest.ServerURL("JELLYFIN_URL", ""),
	Auth: rest.HeaderKey{Header: "Authorization", Prefix: `MediaBrowser Token="`, Variable: "JELLYFIN_API_KEY",
		Suffix: `"`},
	QuotaOf: []string{"JELLYFIN_URL", "JELLYFIN_API_KEY"},
	Account: &rest.Lookup{Request: rest.Request{Path: "Users"}, Find: findUser},
	// Jellyfin reports no changes: every run reads the lists.
	Streams: []rest.Stream{
		itemList("movies", "IsPlayed", "Movie", rest.Fields{"original_title": rest.From("OriginalTitle"),
			"production_year": rest.From("ProductionYear"), "premiere_date": rest.From("PremiereDate").UTC()}),
		itemList("episodes", "IsPlayed", "Episode", rest.Fields{"series_name": rest.From("SeriesName"),
			"series_id": rest.From("SeriesId"), "season_name": rest.From("SeasonName"),
			"season_number": rest.From("ParentIndexNumber"), "episode_number": rest.From("IndexNumber"),
			"production_year": rest.From("ProductionYear"), "premiere_date": rest.From("PremiereDate").UTC()}),
		itemList("tracks", "IsPlayed", "Audio", rest.Fields{"album": rest.From("Album"),
			"album_artist": rest.From("AlbumArtist"), "artists": rest.From("Artists"),
			"production_year": rest.From("ProductionYear")}),
		itemList("favorites", "IsFavorite", "", rest.Fields{"type": rest.From("Type"), "series_name": rest.From("SeriesName"),
			"album": rest.From("Album"), "album_artist": rest.From("AlbumArtist"),
			"production_year": rest.From("ProductionYear")}),
	},
}

// itemList is a list of the user's items, of one kind or of all kinds.
func itemList(stream, filter, kind string, fields rest.Fields) rest.Stream {
	q := url.Values{"userId": {"{user}"}, "recursive": {"true"}, "filters": {filter}, "sortBy": {"DateCreated,SortName"},
		"fields": {"Genres,ProviderIds,OriginalTitle"}, "enableImages": {"false"}, "limit": {"200"}}
	maps.Copy(fields, rest.Fields{"id": rest.From("Id"), "name": rest.From("Name"),
		"provider_ids": rest.From("ProviderIds"), "rating": rest.From("UserData.Rating"),
		"likes": rest.From("UserData.Likes")})
	if kind != "" {
		q.Set("includeItemTypes", kind)
		maps.Copy(fields, rest.Fields{"genres": rest.From("Genres"), "run_time_s": rest.Computed(runTime),
			"play_count": rest.From("UserData.PlayCount"), "is_favorite": rest.From("UserData.IsFavorite"),
			"last_played_at": rest.From("UserData.LastPlayedDate").UTC()})
	}
	return rest.Stream{Name: stream, Request: rest.Request{Path: "Items", Query: q}, Items: "Items", Fields: fields,
		Total: "TotalRecordCount", OmitEmpty: true, Partitions: rest.OfAccount("user"),
		Pages: rest.Offset{Param: "startIndex", Total: "TotalRecordCount"}}
}

// findUser returns the id of the owner's user. A key belongs to a server and not to a user.
func findUser(r *rest.Run, a *rest.Answer) (string, error) {
	users, err := rest.FirstList("")(a)
	for _, raw := range users {
		user := rest.Item{Raw: raw}
		if strings.EqualFold(user.Text("Name"), strings.TrimSpace(r.Setup.Env("JELLYFIN_USER"))) {
			return user.Text("Id"), nil
		}
	}
	if err == nil {
		err = &connectorkit.Error{Class: connectorkit.Forbidden,
			OwnerMessage: "Jellyfin has no user with this name. Connect again with your name in Jellyfin."}
	}
	return "", err
}

// runTime returns seconds. Jellyfin counts in ten millionths of them.
func runTime(item rest.Item) (jsontext.Value, error) {
	ticks := item.Member("RunTimeTicks")
	if ticks == nil || ticks.Kind() == 'n' {
		return nil, nil
	}
	n, err := strconv.ParseInt(string(ticks), 10, 64)
	return jsontext.Value(strconv.FormatInt(n/10_000_000, 10)), err
}
