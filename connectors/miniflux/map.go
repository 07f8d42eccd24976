package miniflux

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// raw is a thing as the server gives it.
type raw = jsontext.Value

type categoryRecord struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Hidden bool   `json:"hidden"`
}

func category(v raw) (string, any, error) {
	var c struct {
		ID     int64  `json:"id"`
		Title  string `json:"title"`
		Hidden bool   `json:"hide_globally"`
	}
	if err := json.Unmarshal(v, &c); err != nil || c.ID <= 0 {
		return "", nil, failed(err)
	}
	return number(c.ID), categoryRecord{number(c.ID), c.Title, c.Hidden}, nil
}

type feedRecord struct {
	ID          string `json:"id"`
	Title       string `json:"title"`
	Description string `json:"description,omitzero"`
	FeedURL     string `json:"feed_url"`
	SiteURL     string `json:"site_url,omitzero"`
	CategoryID  string `json:"category_id,omitzero"`
	Disabled    bool   `json:"disabled"`
	Hidden      bool   `json:"hidden"`
}

// feed leaves out what is no part of a subscription: user names, passwords and cookies for the
// feed's own site, and when it was asked last.
func feed(v raw) (string, any, error) {
	var f struct {
		ID          int64  `json:"id"`
		Title       string `json:"title"`
		Description string `json:"description"`
		FeedURL     string `json:"feed_url"`
		SiteURL     string `json:"site_url"`
		Disabled    bool   `json:"disabled"`
		Hidden      bool   `json:"hide_globally"`
		Category    struct {
			ID int64 `json:"id"`
		} `json:"category"`
	}
	if err := json.Unmarshal(v, &f); err != nil || f.ID <= 0 {
		return "", nil, failed(err)
	}
	return number(f.ID), feedRecord{number(f.ID), f.Title, f.Description, f.FeedURL, f.SiteURL, number(f.Category.ID), f.Disabled, f.Hidden}, nil
}

type entryRecord struct {
	ID          string      `json:"id"`
	FeedID      string      `json:"feed_id"`
	Title       string      `json:"title"`
	URL         string      `json:"url"`
	CommentsURL string      `json:"comments_url,omitzero"`
	Author      string      `json:"author,omitzero"`
	Content     string      `json:"content,omitzero"`
	PublishedAt string      `json:"published_at"`
	CreatedAt   string      `json:"created_at,omitzero"`
	ChangedAt   string      `json:"changed_at,omitzero"`
	Status      string      `json:"status"`
	Starred     bool        `json:"starred"`
	ReadingTime int64       `json:"reading_minutes,omitzero"`
	Tags        []string    `json:"tags,omitempty"`
	Enclosures  []enclosure `json:"enclosures,omitempty"`
}

// enclosure is a file that an entry points at, such as an episode of a podcast.
type enclosure struct {
	URL      string `json:"url"`
	MIMEType string `json:"mime_type,omitzero"`
	Bytes    int64  `json:"size_bytes,omitzero"`
	// Position is how far it was heard or seen, in seconds.
	Position int64 `json:"position_seconds,omitzero"`
}

// entry reads one entry; its number is zero when it has none.
func entry(v raw) (int64, connectorkit.Record) {
	var numbered struct {
		ID int64 `json:"id"`
	}
	if err := json.Unmarshal(v, &numbered, jsontext.AllowInvalidUTF8(true)); err != nil || numbered.ID <= 0 {
		return 0, connectorkit.Unreadable("", failed(err))
	}
	var e struct {
		FeedID      int64     `json:"feed_id"`
		Title       string    `json:"title"`
		URL         string    `json:"url"`
		CommentsURL string    `json:"comments_url"`
		Author      string    `json:"author"`
		Content     string    `json:"content"`
		PublishedAt time.Time `json:"published_at"`
		CreatedAt   time.Time `json:"created_at"`
		ChangedAt   time.Time `json:"changed_at"`
		Status      string    `json:"status"`
		Starred     bool      `json:"starred"`
		ReadingTime int64     `json:"reading_time"`
		Tags        []string  `json:"tags"`
		Enclosures  []struct {
			URL      string `json:"url"`
			MIMEType string `json:"mime_type"`
			Size     int64  `json:"size"`
			Position int64  `json:"media_progression"`
		} `json:"enclosures"`
	}
	if err := json.Unmarshal(v, &e, jsontext.AllowInvalidUTF8(true)); err != nil {
		return numbered.ID, connectorkit.Unreadable(number(numbered.ID), err)
	}
	out := entryRecord{
		number(numbered.ID), number(e.FeedID), e.Title, e.URL, e.CommentsURL, e.Author, e.Content,
		moment(e.PublishedAt), moment(e.CreatedAt), moment(e.ChangedAt), e.Status, e.Starred, e.ReadingTime, e.Tags, nil,
	}
	for _, f := range e.Enclosures {
		out.Enclosures = append(out.Enclosures, enclosure{f.URL, f.MIMEType, f.Size, f.Position})
	}
	return numbered.ID, connectorkit.Upsert(out)
}

// number spells a number of Miniflux's; zero means that there is none.
func number(id int64) string {
	if id <= 0 {
		return ""
	}
	return strconv.FormatInt(id, 10)
}

// moment spells a time the same wherever the person lives.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func failed(err error) error {
	if err == nil {
		return errForm
	}
	return err
}
