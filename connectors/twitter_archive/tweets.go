package twitterarchive

import (
	"context"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"pdpp/connectorkit"
	"pdpp/connectorkit/localarchive"
)

// lenient reads what exports of many years have.
var lenient = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// number is a count that older archives write as a text.
type number struct{ n *int64 }

func (v *number) UnmarshalJSON(b []byte) error {
	if text, err := strconv.Unquote(string(b)); err == nil {
		b = []byte(text)
	}
	if n, err := strconv.ParseInt(string(b), 10, 64); err == nil {
		v.n = &n
	}
	return nil
}

// text is a member that is sometimes a number.
type text string

func (v *text) UnmarshalJSON(b []byte) error {
	var s string
	if jsontext.Value(b).Kind() == '"' {
		if err := json.Unmarshal(b, &s, lenient); err != nil {
			return err
		}
		*v = text(s)
	} else if jsontext.Value(b).Kind() == '0' {
		*v = text(b)
	}
	return nil
}

// list is a list of which only the length counts; nil when there is none.
type list struct{ n *int64 }

func (v *list) UnmarshalJSON(b []byte) error {
	var all []jsontext.Value
	if json.Unmarshal(b, &all, lenient) == nil && jsontext.Value(b).Kind() == '[' {
		n := int64(len(all))
		v.n = &n
	}
	return nil
}

type sourceTweet struct {
	ID                  text   `json:"id"`
	IDStr               text   `json:"id_str"`
	FullText            string `json:"full_text"`
	Text                string `json:"text"`
	CreatedAt           string `json:"created_at"`
	FavoriteCount       number `json:"favorite_count"`
	RetweetCount        number `json:"retweet_count"`
	ReplyToStatus       text   `json:"in_reply_to_status_id_str"`
	ReplyToStatusNumber text   `json:"in_reply_to_status_id"`
	ReplyToName         text   `json:"in_reply_to_screen_name"`
	Lang                text   `json:"lang"`
	Entities            struct {
		URLs  list `json:"urls"`
		Media list `json:"media"`
	} `json:"entities"`
	Extended struct {
		Media list `json:"media"`
	} `json:"extended_entities"`
}

type tweet struct {
	ID            string `json:"id"`
	Text          string `json:"text,omitzero"`
	CreatedAt     string `json:"created_at"`
	FavoriteCount *int64 `json:"favorite_count,omitzero"`
	RetweetCount  *int64 `json:"retweet_count,omitzero"`
	ReplyTo       text   `json:"in_reply_to_status_id,omitzero"`
	ReplyToName   text   `json:"in_reply_to_screen_name,omitzero"`
	Lang          text   `json:"lang,omitzero"`
	MediaCount    *int64 `json:"media_count,omitzero"`
	URLCount      *int64 `json:"url_count,omitzero"`
}

// readTweets reads posts, each in a wrapper of its own in newer archives.
func readTweets(ctx context.Context, m *localarchive.Member) error {
	return elements(ctx, m, func(element jsontext.Value) bool {
		rec, ok := tweetOf(element)
		if ok {
			m.Emit("tweets", connectorkit.Upsert(rec))
		}
		return ok
	})
}

func tweetOf(element jsontext.Value) (tweet, bool) {
	var wrapped struct {
		Tweet jsontext.Value `json:"tweet"`
	}
	if json.Unmarshal(element, &wrapped, lenient) == nil && wrapped.Tweet.Kind() == '{' {
		element = wrapped.Tweet
	}
	var s sourceTweet
	if err := json.Unmarshal(element, &s, lenient); err != nil {
		return tweet{}, false
	}
	out := tweet{
		ID: string(s.IDStr), Text: s.FullText, CreatedAt: timeOf(s.CreatedAt), FavoriteCount: s.FavoriteCount.n, RetweetCount: s.RetweetCount.n,
		ReplyTo: s.ReplyToStatus, ReplyToName: s.ReplyToName, Lang: s.Lang, MediaCount: s.Extended.Media.n, URLCount: s.Entities.URLs.n,
	}
	if out.ID == "" {
		out.ID = string(s.ID)
	}
	if out.Text == "" {
		out.Text = s.Text
	}
	if out.ReplyTo == "" {
		out.ReplyTo = s.ReplyToStatusNumber
	}
	if out.MediaCount == nil {
		out.MediaCount = s.Entities.Media.n
	}
	out.Text = unescaped.Replace(out.Text)
	return out, out.ID != "" && out.CreatedAt != ""
}
