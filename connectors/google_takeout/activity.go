package googletakeout

import (
	"cmp"
	"context"
	"io"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localarchive"
)

type watchedVideo struct {
	ID         string `json:"id"`
	WatchedAt  string `json:"watched_at"`
	URL        string `json:"video_url,omitzero"`
	Title      string `json:"video_title,omitzero"`
	Channel    string `json:"channel_name,omitzero"`
	ChannelURL string `json:"channel_url,omitzero"`
	Ad         bool   `json:"is_ad,omitzero"`
}

type searchRecord struct {
	ID        string `json:"id"`
	Timestamp string `json:"timestamp"`
	Query     string `json:"query,omitzero"`
	Product   string `json:"product,omitzero"`
}

// watchedWords precede the title of a watched video and searchWords a search, in some languages; behind holds what
// follows it.
var (
	watchedWords = []string{"Watched ", "Has visto ", "Vous avez regardé ", "Hai guardato ", "Você assistiu a ",
		"Bekeken: "}
	watchedEnds = []string{" angesehen", " bekeken"}
	searchWords = []string{"Searched for ", "Has buscado ", "Vous avez recherché ", "Hai cercato ", "Você pesquisou ",
		"Gezocht naar "}
	searchEnds = []string{" gesucht"}
)

// readActivity reads one activity per element. The address shows the kind of activity in any language.
func readActivity(ctx context.Context, m *localarchive.Member) error {
	in, err := m.Open(ctx, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	return activityFrom(ctx, m, in)
}

func activityFrom(ctx context.Context, m *localarchive.Member, in io.Reader) error {
	ofVideos := m.Wants("youtube_watch_history") && strings.Contains(m.Name, "YouTube")
	var from localarchive.ListPlace
	m.State(&from)
	return localarchive.ReadLists(ctx, in, from, nil, func(at localarchive.ListPlace, element jsontext.Value) error {
		var s struct {
			Header    string `json:"header"`
			Title     string `json:"title"`
			TitleURL  string `json:"titleUrl"`
			Time      string `json:"time"`
			Subtitles []struct {
				Name string `json:"name"`
				URL  string `json:"url"`
			} `json:"subtitles"`
			Details []struct {
				Name string `json:"name"`
			} `json:"details"`
		}
		err := json.Unmarshal(element, &s, lenientDecoding)
		when := parseExportTime(s.Time)
		address, _ := url.Parse(s.TitleURL)
		if address == nil {
			address = &url.URL{}
		}
		title, watched := trimAffixes(s.Title, watchedWords, watchedEnds)
		query, asked := trimAffixes(s.Title, searchWords, searchEnds)
		if q := address.Query().Get("q"); q != "" && strings.HasSuffix(address.Path, "/search") {
			query, asked = q, true
		}
		tube := strings.HasSuffix(address.Hostname(), "youtube.com")
		if q := address.Query().Get("search_query"); q != "" && tube {
			query, asked = q, true
		}
		film := tube && (address.Path == "/watch" || strings.HasPrefix(address.Path, "/shorts/") ||
			strings.HasPrefix(address.Path, "/live/"))
		switch {
		case err != nil || when == "":
			m.Row(at.Index, int64(len(element)))
		case film, s.TitleURL == "" && watched && (ofVideos || strings.HasPrefix(s.Header, "YouTube")):
			v := watchedVideo{WatchedAt: when, URL: s.TitleURL, Title: title}
			if len(s.Subtitles) > 0 {
				v.Channel, v.ChannelURL = s.Subtitles[0].Name, s.Subtitles[0].URL
			}
			v.Ad = len(s.Details) > 0 && strings.Contains(s.Details[0].Name, "Google Ads")
			v.ID = hashedID("watch", when, s.TitleURL)
			m.Emit("youtube_watch_history", connectorkit.Upsert(v))
		case asked:
			m.Emit("search_history", connectorkit.Upsert(searchRecord{hashedID("search", when, query), when, query, s.Header}))
		default:
			m.Skip("Activity that is no search, " + cmp.Or(strings.TrimSpace(s.Header), "of no product"))
		}
		at.Index++
		return m.Place(ctx, func() any { return at })
	})
}

// trimAffixes takes off what a language puts around a text; false when nothing was there.
func trimAffixes(text string, before, after []string) (string, bool) {
	for _, word := range before {
		if rest, ok := strings.CutPrefix(text, word); ok {
			return strings.TrimSpace(rest), true
		}
	}
	for _, word := range after {
		if rest, ok := strings.CutSuffix(text, word); ok {
			return strings.Trim(rest, `"„“ `), true
		}
	}
	return text, false
}
