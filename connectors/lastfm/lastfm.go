// Package lastfm collects what a person listened to and loved from Last.fm.
//
//	manifest.json   what it declares: streams, schemas, the form for name and key
//	lastfm.go       where the tracks are, and how Last.fm refuses
package lastfm

import (
	"context"
	_ "embed"
	"net/url"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the Last.fm connector.
func Connector() connectorkit.Connector { return rest.MustNew(manifestJSON, source) }

var source = rest.Source{
	BaseURL:  "https://ws.audioscrobbler.com",
	Auth:     rest.QueryKey{Param: "api_key", Variable: "LASTFM_API_KEY"},
	QuotaOf:  []string{"LASTFM_API_KEY"},
	Settings: []rest.Setting{{Name: "user", Variable: "LASTFM_USER"}},
	Account:  &rest.Lookup{Request: method("user.getinfo"), Member: "user.name"},
	Errors: []rest.ErrorRule{
		{Member: "error", Values: []string{"10"}, Class: connectorkit.Unauthorized,
			Message: "Last.fm does not know this API key. Copy the key again, not the shared secret, and connect with it."},
		{Member: "error", Values: []string{"26"}, Class: connectorkit.Unauthorized,
			Message: "Last.fm has suspended this API key. Create another one, and connect with it."},
		{Member: "error", Values: []string{"17"}, Class: connectorkit.Forbidden,
			Message: "Your Last.fm account hides what you listen to. Open Settings, Privacy at Last.fm, untick Hide recent " +
				"listening information, and run this again."},
		{Member: "error", Values: []string{"6"}, Class: connectorkit.NotFound,
			Message: "Last.fm does not know this user name. Connect again with the name that your profile's address ends with."},
		{Member: "error", Values: []string{"29"}, Class: connectorkit.RateLimited},
	},
	Streams: []rest.Stream{
		{Name: "profile", Items: "user", Sync: rest.SingleObject{OfAccount: true}, OmitEmpty: true, Fields: rest.Fields{
			"id": rest.From("name"), "real_name": rest.From("realname"),
			"registered_at": rest.Computed(timeAt("registered.unixtime"))}},
		tracks("loved_tracks", "lovedtracks", rest.Fields{
			"id":       rest.Joined(":", rest.From("artist.name"), rest.From("name")),
			"loved_at": rest.Computed(timeAt("date.uts")), "artist_name": rest.From("artist.name")}),
		scrobbles(),
	},
}

func method(name string, more ...string) rest.Request {
	q := url.Values{"method": {name}, "format": {"json"}, "user": {"{user}"}}
	for i := 0; i < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	return rest.Request{Path: "2.0/", Query: q}
}

// tracks is a list of tracks, the newest first, with numbered pages. A list of one track is that track.
func tracks(stream, list string, fields rest.Fields) rest.Stream {
	fields["track_name"], fields["track_mbid"] = rest.From("name"), rest.From("mbid")
	fields["artist_mbid"] = rest.From("artist.mbid")
	return rest.Stream{Name: stream, Request: method("user.get"+list, "limit", "200"), Fields: fields, OmitEmpty: true,
		Pages: rest.PageNumber{Param: "page", Last: list + ".@attr.totalPages"},
		Select: func(a *rest.Answer) ([]jsontext.Value, error) {
			if only := a.Member(list + ".track"); only.Kind() == '{' {
				return []jsontext.Value{only}, nil
			}
			return rest.FirstList(list + ".track")(a)
		}}
}

// scrobbles are the tracks that were played. A scrobble has no id: time, artist and name identify it.
func scrobbles() rest.Stream {
	s := tracks("scrobbles", "recenttracks", rest.Fields{
		"id":        rest.Joined(":", rest.From("date.uts"), rest.From("artist.#text"), rest.From("name")),
		"played_at": rest.Computed(timeAt("date.uts")), "artist_name": rest.From("artist.#text"),
		"album_name": rest.From("album.#text"), "album_mbid": rest.From("album.mbid")})
	// The track that plays now is not one that was played.
	s.Admit = func(item rest.Item) bool { return item.Text("@attr.nowplaying") != "true" }
	// Last.fm accepts plays of the last two weeks.
	s.Sync = rest.DateWindows{Layout: time.RFC3339, Days: 90, Again: 15, Start: func(r *rest.Run) (time.Time, error) {
		text, err := r.AccountText(context.Background(), "user.registered.unixtime") // the account is known here
		if err != nil {
			return time.Time{}, err
		}
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return time.Time{}, connectorkit.Fail(connectorkit.Malformed, err)
		}
		return time.Unix(seconds, 0).UTC().Truncate(24 * time.Hour), nil
	}}
	s.Prepare = func(_ context.Context, _ *rest.Run, ask rest.Ask, q *governhttp.Request) error {
		// Whether the bounds belong to the window is not documented: a second more on both sides.
		q.Query.Set("from", strconv.FormatInt(ask.Window.From.Unix()-1, 10))
		q.Query.Set("to", strconv.FormatInt(ask.Window.To.Unix()+1, 10))
		return nil
	}
	return s
}

// timeAt returns the time of a text of seconds.
func timeAt(path string) func(rest.Item) (jsontext.Value, error) {
	return func(item rest.Item) (jsontext.Value, error) {
		seconds, err := strconv.ParseInt(item.Text(path), 10, 64)
		if err != nil {
			return nil, err
		}
		return jsontext.AppendQuote(nil, time.Unix(seconds, 0).UTC().Format(time.RFC3339))
	}
}
