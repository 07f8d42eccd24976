package twitterarchive

import (
	"cmp"
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localarchive"
)

// lenientDecoding reads what exports of many years have.
var lenientDecoding = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// textOrNumberCount is a count that older archives write as a text.
type textOrNumberCount struct{ n *int64 }

func (v *textOrNumberCount) UnmarshalJSON(b []byte) error {
	if text, err := strconv.Unquote(string(b)); err == nil {
		b = []byte(text)
	}
	if n, err := strconv.ParseInt(string(b), 10, 64); err == nil {
		v.n = &n
	}
	return nil
}

// textOrNumber is a member that is sometimes a number.
type textOrNumber string

func (v *textOrNumber) UnmarshalJSON(b []byte) error {
	var s string
	if jsontext.Value(b).Kind() == '"' {
		if err := json.Unmarshal(b, &s, lenientDecoding); err != nil {
			return err
		}
		*v = textOrNumber(s)
	} else if jsontext.Value(b).Kind() == '0' {
		*v = textOrNumber(b)
	}
	return nil
}

// listLength counts a list with elements of any type; nil when there is none.
type listLength[T any] struct {
	n    *int64
	list []T
}

func (v *listLength[T]) UnmarshalJSON(b []byte) error {
	var all []jsontext.Value
	if json.Unmarshal(b, &all, lenientDecoding) != nil || jsontext.Value(b).Kind() != '[' {
		return nil
	}
	n := int64(len(all))
	v.n = &n
	for _, raw := range all {
		var one T
		if raw.Kind() == '{' && json.Unmarshal(raw, &one, lenientDecoding) == nil {
			v.list = append(v.list, one)
		}
	}
	return nil
}

type sourceTweet struct {
	ID                  textOrNumber      `json:"id"`
	IDStr               textOrNumber      `json:"id_str"`
	FullText            string            `json:"full_text"`
	Text                string            `json:"text"`
	CreatedAt           string            `json:"created_at"`
	FavoriteCount       textOrNumberCount `json:"favorite_count"`
	RetweetCount        textOrNumberCount `json:"retweet_count"`
	ReplyToStatus       textOrNumber      `json:"in_reply_to_status_id_str"`
	ReplyToStatusNumber textOrNumber      `json:"in_reply_to_status_id"`
	ReplyToName         textOrNumber      `json:"in_reply_to_screen_name"`
	ReplyToUser         textOrNumber      `json:"in_reply_to_user_id_str"`
	ReplyToUserNumber   textOrNumber      `json:"in_reply_to_user_id"`
	Lang                textOrNumber      `json:"lang"`
	Client              string            `json:"source"`
	DeletedAt           string            `json:"deleted_at"`
	CommunityID         textOrNumber      `json:"community_id_str"`
	Entities            struct {
		URLs     listLength[sourceLink]    `json:"urls"`
		Media    listLength[sourceMedia]   `json:"media"`
		Mentions listLength[sourceMention] `json:"user_mentions"`
		Hashtags listLength[sourceHashtag] `json:"hashtags"`
	} `json:"entities"`
	Extended struct {
		Media listLength[sourceMedia] `json:"media"`
	} `json:"extended_entities"`
	Coordinates struct {
		Point []textOrDecimal `json:"coordinates"` // the longitude first
	} `json:"coordinates"`
	Geo struct {
		Point []textOrDecimal `json:"coordinates"` // the latitude first
	} `json:"geo"`
	Place struct {
		FullName string `json:"full_name"`
	} `json:"place"`
}

type sourceLink struct {
	URL      string `json:"url"`
	Expanded string `json:"expanded_url"`
}

type sourceMedia struct {
	Type    string `json:"type"`
	Address string `json:"media_url_https"`
	Alt     string `json:"ext_alt_text"`
	Video   struct {
		Variants []struct {
			Bitrate textOrNumberCount `json:"bitrate"`
			URL     string            `json:"url"`
		} `json:"variants"`
	} `json:"video_info"`
}

type sourceMention struct {
	ID         textOrNumber `json:"id_str"`
	ScreenName string       `json:"screen_name"`
	Name       string       `json:"name"`
}

type sourceHashtag struct {
	Text string `json:"text"`
}

// textOrDecimal is a number that archives write as a text, too.
type textOrDecimal float64

func (v *textOrDecimal) UnmarshalJSON(b []byte) error {
	n, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	if err == nil && !math.IsNaN(n) && !math.IsInf(n, 0) {
		*v = textOrDecimal(n)
	}
	return nil
}

// Kinds of posts.
const (
	tweetKindPost = "post"
	kindCommunity = "community"
	kindDeleted   = "deleted" // by its author, and still in the archive
)

type tweetLink struct {
	URL      string `json:"url"`
	Expanded string `json:"expanded_url,omitzero"`
}

type tweetMention struct {
	ID         textOrNumber `json:"id,omitzero"`
	ScreenName string       `json:"screen_name"`
	Name       string       `json:"name,omitzero"`
}

type tweetMedia struct {
	Type  string `json:"type,omitzero"`
	URL   string `json:"url,omitzero"`
	Alt   string `json:"alt_text,omitzero"`
	Video string `json:"video_url,omitzero"`
}

type tweetRecord struct {
	ID            string       `json:"id"`
	Text          string       `json:"text,omitzero"`
	CreatedAt     string       `json:"created_at"`
	FavoriteCount *int64       `json:"favorite_count,omitzero"`
	RetweetCount  *int64       `json:"retweet_count,omitzero"`
	ReplyTo       textOrNumber `json:"in_reply_to_status_id,omitzero"`
	ReplyToName   textOrNumber `json:"in_reply_to_screen_name,omitzero"`
	Lang          textOrNumber `json:"lang,omitzero"`
	MediaCount    *int64       `json:"media_count,omitzero"`
	URLCount      *int64       `json:"url_count,omitzero"`

	Kind        string         `json:"kind"`
	Long        bool           `json:"is_long,omitzero"`
	ReplyToUser textOrNumber   `json:"in_reply_to_user_id,omitzero"`
	URLs        []tweetLink    `json:"urls,omitempty"`
	Media       []tweetMedia   `json:"media,omitempty"`
	Mentions    []tweetMention `json:"mentions,omitempty"`
	Hashtags    []string       `json:"hashtags,omitempty"`
	Latitude    *float64       `json:"latitude,omitzero"`
	Longitude   *float64       `json:"longitude,omitzero"`
	Place       string         `json:"place,omitzero"`
	Client      string         `json:"client,omitzero"`
	CommunityID textOrNumber   `json:"community_id,omitzero"`
	DeletedAt   string         `json:"deleted_at,omitzero"`
}

// readTweets reads posts, which newer archives wrap in an object.
func (a *archiveReader) readTweets(kind string) func(context.Context, *localarchive.Member) error {
	return func(ctx context.Context, m *localarchive.Member) error {
		long, err := a.readLongPosts(ctx, m)
		if err != nil {
			return err
		}
		return a.eachElement(ctx, m, "tweets", func(element jsontext.Value) bool {
			rec, ok := tweetFromElement(element, kind)
			if ok {
				rec.replaceCutText(long.findLongPost(rec.CreatedAt, rec.Text))
				m.Emit("tweets", connectorkit.Upsert(rec))
			}
			return ok
		})
	}
}

// replaceCutText replaces the cut text of a post by the whole one.
func (t *tweetRecord) replaceCutText(n *longPost) {
	if n == nil {
		return
	}
	t.Text, t.Long = n.tweet.Text, true
	if len(n.tweet.URLs) > 0 {
		t.URLs = n.tweet.URLs
		count := int64(len(t.URLs))
		t.URLCount = &count
	}
	if len(t.Mentions) < len(n.tweet.Mentions) {
		t.Mentions = n.tweet.Mentions
	}
	if len(t.Hashtags) < len(n.tweet.Hashtags) {
		t.Hashtags = n.tweet.Hashtags
	}
}

func tweetFromElement(element jsontext.Value, kind string) (tweetRecord, bool) {
	var wrapped struct {
		Tweet jsontext.Value `json:"tweet"`
	}
	if json.Unmarshal(element, &wrapped, lenientDecoding) == nil && wrapped.Tweet.Kind() == '{' {
		element = wrapped.Tweet
	}
	var s sourceTweet
	if err := json.Unmarshal(element, &s, lenientDecoding); err != nil {
		return tweetRecord{}, false
	}
	out := tweetRecord{
		ID: cmp.Or(string(s.IDStr), string(s.ID)), Text: cmp.Or(s.FullText, s.Text), CreatedAt: parseExportTime(s.CreatedAt),
		FavoriteCount: s.FavoriteCount.n, RetweetCount: s.RetweetCount.n,
		ReplyTo: cmp.Or(s.ReplyToStatus, s.ReplyToStatusNumber), ReplyToName: s.ReplyToName,
		ReplyToUser: cmp.Or(s.ReplyToUser, s.ReplyToUserNumber), Lang: s.Lang,
		MediaCount: s.Extended.Media.n, URLCount: s.Entities.URLs.n, Kind: kind, Place: s.Place.FullName,
		Client: clientName(s.Client), CommunityID: s.CommunityID, DeletedAt: parseExportTime(s.DeletedAt),
	}
	pictures := s.Extended.Media
	if pictures.n == nil {
		pictures, out.MediaCount = s.Entities.Media, s.Entities.Media.n
	}
	for _, p := range pictures.list {
		out.Media = append(out.Media, p.toTweetMedia())
	}
	for _, u := range s.Entities.URLs.list {
		if u.URL != "" {
			out.URLs = append(out.URLs, tweetLink(u))
		}
	}
	for _, who := range s.Entities.Mentions.list {
		out.Mentions = append(out.Mentions, tweetMention(who))
	}
	for _, tag := range s.Entities.Hashtags.list {
		out.Hashtags = append(out.Hashtags, tag.Text)
	}
	switch at := s.Coordinates.Point; {
	case len(at) == 2:
		out.Longitude, out.Latitude = (*float64)(&at[0]), (*float64)(&at[1])
	case len(s.Geo.Point) == 2:
		out.Latitude, out.Longitude = (*float64)(&s.Geo.Point[0]), (*float64)(&s.Geo.Point[1])
	}
	out.Text = resolveLinks(out.Text, out.URLs)
	return out, out.ID != "" && out.CreatedAt != ""
}

// toTweetMedia has the address of the best form of a video.
func (p sourceMedia) toTweetMedia() tweetMedia {
	out := tweetMedia{Type: p.Type, URL: p.Address, Alt: p.Alt}
	best := int64(-1)
	for _, v := range p.Video.Variants {
		rate := int64(0)
		if v.Bitrate.n != nil {
			rate = *v.Bitrate.n
		}
		if rate > best && v.URL != "" {
			best, out.Video = rate, v.URL
		}
	}
	return out
}

// resolveLinks is a text as it was written: without the archive's escapes, and with links instead of
// those that Twitter put in their places.
func resolveLinks(text string, links []tweetLink) string {
	text = htmlUnescaper.Replace(text)
	for _, l := range links {
		if l.URL != "" && l.Expanded != "" {
			text = strings.ReplaceAll(text, l.URL, l.Expanded)
		}
	}
	return text
}

// clientName is the name of the program that a post was written with, which the archive has as a link.
func clientName(source string) string {
	if _, rest, ok := strings.Cut(source, ">"); ok {
		source, _, _ = strings.Cut(rest, "<")
	}
	return htmlUnescaper.Replace(source)
}
