package twitterarchive

import (
	"context"
	"io"
	"path"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localarchive"
)

// note is the whole text of a post over 280 characters. It has an id of its own: what joins it to its
// post is when it was written and how it begins.
type note struct {
	id, created string
	second      int64
	tweet       tweet // its text and what is in it
	joined      bool
}

// notes are those of one archive, by the second in which they were written.
type notes map[int64][]*note

// archive joins the files of archives, as far as a run has read them.
type archive struct{ notes map[string]notes }

var (
	noteFiles  = []string{"note-tweet.js", "note-tweet-part*.js"}
	tweetFiles = []string{"tweets.js", "tweets-part*.js", "tweet.js", "tweet-part*.js", "community-tweet.js",
		"community-tweet-part*.js", "deleted-tweets.js", "deleted-tweets-part*.js"}
)

// maxNotes bounds the texts that are held in memory.
const maxNotes = 64 << 20

// notesOf reads the long texts that lie beside a file of posts.
func (a *archive) notesOf(ctx context.Context, m *localarchive.Member) (notes, error) {
	key := m.Archive + "\x00" + path.Dir(m.Name)
	if known, ok := a.notes[key]; ok {
		return known, nil
	}
	found, size := notes{}, 0
	err := m.Beside(ctx, noteFiles, func(in io.Reader) error {
		return localarchive.Lists(ctx, in, localarchive.ListPlace{}, nil,
			func(_ localarchive.ListPlace, element jsontext.Value) error {
				if n, ok := noteOf(element); ok && size+len(n.tweet.Text) < maxNotes {
					size += len(n.tweet.Text)
					found[n.second] = append(found[n.second], n)
				}
				return nil
			})
	})
	if err == nil {
		a.notes = map[string]notes{key: found} // files of one archive follow each other
	}
	return found, err
}

func noteOf(element jsontext.Value) (*note, bool) {
	var s struct {
		Note struct {
			ID        text   `json:"noteTweetId"`
			CreatedAt string `json:"createdAt"`
			Core      struct {
				Text string `json:"text"`
				URLs []struct {
					Short    string `json:"shortUrl"`
					Expanded string `json:"expandedUrl"`
				} `json:"urls"`
				Mentions []struct {
					ID         text   `json:"id"`
					ScreenName string `json:"screenName"`
				} `json:"mentions"`
				Hashtags []struct {
					Text string `json:"text"`
				} `json:"hashtags"`
			} `json:"core"`
		} `json:"noteTweet"`
	}
	if json.Unmarshal(element, &s, lenient) != nil || s.Note.ID == "" || s.Note.Core.Text == "" {
		return nil, false
	}
	n := &note{id: string(s.Note.ID), created: timeOf(s.Note.CreatedAt)}
	at, err := time.Parse(time.RFC3339Nano, n.created)
	if err != nil {
		return nil, false
	}
	n.second = at.Unix()
	core := s.Note.Core
	n.tweet = tweet{Text: core.Text, Long: true}
	for _, u := range core.URLs {
		n.tweet.URLs = append(n.tweet.URLs, link{u.Short, u.Expanded})
	}
	for _, who := range core.Mentions {
		n.tweet.Mentions = append(n.tweet.Mentions, mention{ID: who.ID, ScreenName: who.ScreenName})
	}
	for _, tag := range core.Hashtags {
		n.tweet.Hashtags = append(n.tweet.Hashtags, tag.Text)
	}
	n.tweet.Text = resolved(n.tweet.Text, n.tweet.URLs)
	return n, true
}

// find returns the long text of a post; nil when it has none.
func (n notes) find(createdAt, short string) *note {
	at, err := time.Parse(time.RFC3339Nano, createdAt)
	if err != nil || len(n) == 0 {
		return nil
	}
	for _, second := range []int64{0, -1, 1} {
		for _, one := range n[at.Unix()+second] {
			if begins(one.tweet.Text, short) {
				return one
			}
		}
	}
	return nil
}

// begins reports whether a short text is the beginning of a long one: both without the names that a
// reply begins with, up to the first link, and without the dots at which it was cut.
func begins(long, short string) bool {
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

// readNotes reads long texts without a post in the archive. The others are read with their
// posts.
func (a *archive) readNotes(ctx context.Context, m *localarchive.Member) error {
	all, err := a.notesOf(ctx, m)
	if err != nil {
		return err
	}
	err = m.Beside(ctx, tweetFiles, func(in io.Reader) error {
		return localarchive.Lists(ctx, in, localarchive.ListPlace{}, nil,
			func(_ localarchive.ListPlace, element jsontext.Value) error {
				if rec, ok := tweetOf(element, kindPost); ok {
					if n := all.find(rec.CreatedAt, rec.Text); n != nil {
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
	return elements(ctx, m, func(element jsontext.Value) bool {
		n, ok := noteOf(element)
		if ok && !joined[n.id] {
			rec := n.tweet
			rec.ID, rec.CreatedAt, rec.Kind = "note/"+n.id, n.created, kindPost
			m.Emit("tweets", connectorkit.Upsert(rec))
		}
		return ok
	})
}
