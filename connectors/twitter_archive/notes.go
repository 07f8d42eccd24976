package twitterarchive

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localarchive"
)

// longPost is the whole text of a post over 280 characters. Its id differs from the post's id; they are joined by
// time and beginning.
type longPost struct {
	id, created string
	second      int64
	tweet       tweetRecord // its text and what is in it
	joined      bool
}

// longPosts are those of one archive, by the second in which they were written.
type longPosts map[int64][]*longPost

// archiveReader joins the files of archives that a run has read so far. Each map is of one folder of one archive.
type archiveReader struct {
	notes   map[string]longPosts
	counts  map[string]map[string]int64 // by file, from the manifest
	compare func(stream, route, member string, announced, counted int64)
}

var (
	longPostFiles = []string{"note-tweet.js", "note-tweet-part*.js"}
	tweetFiles    = []string{"tweets.js", "tweets-part*.js", "tweet.js", "tweet-part*.js", "community-tweet.js",
		"community-tweet-part*.js", "deleted-tweets.js", "deleted-tweets-part*.js"}
)

// maxLongPostBytes bounds the texts in memory.
const maxLongPostBytes = 64 << 20

// readLongPosts reads the long texts that lie beside a file of posts.
func (a *archiveReader) readLongPosts(ctx context.Context, m *localarchive.Member) (longPosts, error) {
	key := archiveFolder(m)
	if known, ok := a.notes[key]; ok {
		return known, nil
	}
	found, size := longPosts{}, 0
	err := m.ReadSiblings(ctx, longPostFiles, func(in io.Reader) error {
		return localarchive.ReadLists(ctx, in, localarchive.ListPlace{}, nil,
			func(_ localarchive.ListPlace, element jsontext.Value) error {
				if n, ok := parseLongPost(element); ok && size+len(n.tweet.Text) < maxLongPostBytes {
					size += len(n.tweet.Text)
					found[n.second] = append(found[n.second], n)
				}
				return nil
			})
	})
	if err == nil {
		a.notes = map[string]longPosts{key: found} // files of one archive follow each other
	}
	return found, err
}

func parseLongPost(element jsontext.Value) (*longPost, bool) {
	var s struct {
		Note struct {
			ID        textOrNumber `json:"noteTweetId"`
			CreatedAt string       `json:"createdAt"`
			Core      struct {
				Text string `json:"text"`
				URLs []struct {
					Short    string `json:"shortUrl"`
					Expanded string `json:"expandedUrl"`
				} `json:"urls"`
				Mentions []struct {
					ID         textOrNumber `json:"id"`
					ScreenName string       `json:"screenName"`
				} `json:"mentions"`
				Hashtags []struct {
					Text string `json:"text"`
				} `json:"hashtags"`
			} `json:"core"`
		} `json:"noteTweet"`
	}
	if json.Unmarshal(element, &s, lenientDecoding) != nil || s.Note.ID == "" || s.Note.Core.Text == "" {
		return nil, false
	}
	n := &longPost{id: string(s.Note.ID), created: parseExportTime(s.Note.CreatedAt)}
	at, err := time.Parse(time.RFC3339Nano, n.created)
	if err != nil {
		return nil, false
	}
	n.second = at.Unix()
	core := s.Note.Core
	n.tweet = tweetRecord{Text: core.Text, Long: true}
	for _, u := range core.URLs {
		n.tweet.URLs = append(n.tweet.URLs, tweetLink{u.Short, u.Expanded})
	}
	for _, who := range core.Mentions {
		n.tweet.Mentions = append(n.tweet.Mentions, tweetMention{ID: who.ID, ScreenName: who.ScreenName})
	}
	for _, tag := range core.Hashtags {
		n.tweet.Hashtags = append(n.tweet.Hashtags, tag.Text)
	}
	n.tweet.Text = resolveLinks(n.tweet.Text, n.tweet.URLs)
	return n, true
}

// findLongPost returns the long text of a post; nil when it has none.
func (n longPosts) findLongPost(createdAt, short string) *longPost {
	at, err := time.Parse(time.RFC3339Nano, createdAt)
	if err != nil || len(n) == 0 {
		return nil
	}
	for _, second := range []int64{0, -1, 1} {
		for _, one := range n[at.Unix()+second] {
			if isTextBeginning(one.tweet.Text, short) {
				return one
			}
		}
	}
	return nil
}

// isTextBeginning reports whether a short text is the beginning of a long one: both without the names that a
// reply begins with, up to the first link, and without the dots at which it was cut.
func isTextBeginning(long, short string) bool {
	long, short = withoutNames(long), withoutNames(short)
	if at := strings.Index(short, "http"); at >= 0 {
		short = short[:at]
	}
	short = strings.TrimRight(short, "… .\n")
	return len(short) > 0 && strings.HasPrefix(long, short) || short == "" && strings.HasPrefix(long, "http")
}

func withoutNames(s string) string {
	for s = strings.TrimSpace(s); strings.HasPrefix(s, "@"); {
		_, rest, ok := strings.Cut(s, " ")
		if !ok {
			return ""
		}
		s = strings.TrimSpace(rest)
	}
	return s
}

// readOrphanedLongPosts reads long texts without a post in the archive. The others are read with their
// posts.
func (a *archiveReader) readOrphanedLongPosts(ctx context.Context, m *localarchive.Member) error {
	all, err := a.readLongPosts(ctx, m)
	if err != nil {
		return err
	}
	err = m.ReadSiblings(ctx, tweetFiles, func(in io.Reader) error {
		return localarchive.ReadLists(ctx, in, localarchive.ListPlace{}, nil,
			func(_ localarchive.ListPlace, element jsontext.Value) error {
				if rec, ok := tweetFromElement(element, tweetKindPost); ok {
					if n := all.findLongPost(rec.CreatedAt, rec.Text); n != nil {
						n.joined = true
					}
				}
				return nil
			})
	})
	if err != nil {
		return err
	}
	joined := map[string]bool{}
	for _, some := range all {
		for _, n := range some {
			joined[n.id] = n.joined
		}
	}
	return a.eachElement(ctx, m, "tweets", func(element jsontext.Value) bool {
		n, ok := parseLongPost(element)
		if ok && !joined[n.id] {
			rec := n.tweet
			rec.ID, rec.CreatedAt, rec.Kind = "note/"+n.id, n.created, tweetKindPost
			m.Emit("tweets", connectorkit.Upsert(rec))
		}
		return ok
	})
}
