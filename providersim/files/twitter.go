package files

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"
)

// TwitterArchive makes a folder with archives of a Twitter account.
func TwitterArchive(dir string, c Config) (World, error) {
	return newImports(dir, c, &twitterAccount{})
}

type twitterAccount struct {
	tweets   []simTweet
	messages map[string][]directMessage // by conversation
	order    []string
}

type simTweet struct {
	id, text, at, lang, replyTo, replyName string
	likes, media, urls                     int
}

type directMessage struct{ id, text, at, sender, recipient string }

func (*twitterAccount) exportName(t *Tree) string {
	return "twitter-2026-03-01-" + strings.Repeat("ab", 4) + strconv.Itoa(t.serial)
}

func (w *twitterAccount) growAccount(t *Tree) {
	t.advanceClock()
	w.tweets = append(w.tweets, simTweet{
		id: strconv.Itoa(1500000000000000000 + len(w.tweets)), text: t.randomSentence(), at: t.clock.Format(time.RubyDate),
		lang: "en", media: t.rng.IntN(3), urls: t.rng.IntN(2),
	})
	if n := len(w.tweets); n > 1 && t.rng.IntN(3) == 0 {
		w.tweets[n-1].replyTo, w.tweets[n-1].replyName = w.tweets[n-2].id, "mara_invented"
	}
	w.tweets[t.rng.IntN(len(w.tweets))].likes++
	if t.rng.IntN(2) == 0 {
		return
	}
	with := strconv.Itoa(20 + t.rng.IntN(4))
	id := "10-" + with
	if w.messages == nil {
		w.messages = map[string][]directMessage{}
	}
	if w.messages[id] == nil {
		w.order = append(w.order, id)
	}
	w.messages[id] = append(w.messages[id], directMessage{fmt.Sprintf("9%s%06d", with, len(w.messages[id])),
		t.randomSentence(),
		t.clock.Format("2006-01-02T15:04:05.000Z"), "10", with})
}

func (w *twitterAccount) exportMembers(t *Tree) []Member {
	half := len(w.tweets) / 2
	out := []Member{
		{Name: "Your archive.html", Content: []byte("<html></html>")},
		w.likesMember(), w.peopleMember("follower", 30), w.peopleMember("following", 40),
		{Name: "data/tweets_media/a.jpg", Content: []byte("\xff\xd8")},
	}
	for part, list := range [][]simTweet{w.tweets[:half], w.tweets[half:]} {
		name := "data/tweets.js"
		if part > 0 {
			name = fmt.Sprintf("data/tweets-part%d.js", part)
		}
		m := Member{Name: name}
		var all []any
		for i, tw := range list {
			media := make([]any, tw.media)
			one := map[string]any{
				"id_str": tw.id, "id": tw.id, "full_text": markupText.Replace(tw.text), "created_at": tw.at, "lang": tw.lang,
				"favorite_count": strconv.Itoa(tw.likes), "retweet_count": i,
				"truncated": false, "favorited": false, "retweeted": false,
				"entities": map[string]any{"urls": make([]any, tw.urls)}, "extended_entities": map[string]any{"media": media},
			}
			fields := map[string]any{"text": tw.text, "lang": tw.lang, "favorite_count": float64(tw.likes),
				"media_count": float64(tw.media), "url_count": float64(tw.urls)}
			at, _ := time.Parse(time.RubyDate, tw.at)
			fields["created_at"] = at.UTC().Format(time.RFC3339Nano)
			if tw.replyTo != "" {
				one["in_reply_to_status_id_str"], one["in_reply_to_screen_name"] = tw.replyTo, tw.replyName
				fields["in_reply_to_status_id"], fields["in_reply_to_screen_name"] = tw.replyTo, tw.replyName
			}
			if part == 0 {
				all = append(all, map[string]any{"tweet": one})
			} else {
				all = append(all, one) // as archives before 2019 had it
			}
			m.Items = append(m.Items, Item{Stream: "tweets", Key: tw.id, Fields: fields})
		}
		m.Content = []byte(fmt.Sprintf("window.YTD.tweets.part%d = ", part) + encodeJSON(all))
		out = append(out, m)
	}
	return append(out, w.conversations(), twitterManifest(out))
}

// twitterManifest lists the files of single items with the number of their elements, as texts.
func twitterManifest(members []Member) Member {
	types := map[string]any{}
	for _, m := range members {
		if len(m.Items) > 0 {
			types[path.Base(m.Name)] = map[string]any{"files": []any{map[string]any{"fileName": m.Name,
				"count": strconv.Itoa(len(m.Items))}}}
		}
	}
	return Member{Name: "data/manifest.js", Content: []byte("window.__THAR_CONFIG = " + encodeJSON(map[string]any{
		"userInfo": map[string]any{"userName": "mara_invented"}, "dataTypes": types}))}
}

// likesMember are as many as there are posts.
func (w *twitterAccount) likesMember() Member {
	m := Member{Name: "data/like.js"}
	var all []any
	for i, tw := range w.tweets {
		id, url := strconv.Itoa(2000+i), fmt.Sprintf("https://twitter.com/i/web/status/%d", 2000+i)
		all = append(all, map[string]any{"like": map[string]any{"tweetId": id, "fullText": markupText.Replace(tw.text),
			"expandedUrl": url}})
		m.Items = append(m.Items, Item{Stream: "likes", Key: id, Fields: map[string]any{"text": tw.text, "url": url}})
	}
	m.Content = []byte("window.YTD.like.part0 = " + encodeJSON(all))
	return m
}

func (w *twitterAccount) peopleMember(relation string, from int) Member {
	m := Member{Name: "data/" + relation + ".js"}
	var all []any
	for i := range 1 + len(w.tweets)/2 {
		id := strconv.Itoa(from + i)
		url := "https://twitter.com/intent/user?user_id=" + id
		all = append(all, map[string]any{relation: map[string]any{"accountId": id, "userLink": url}})
		m.Items = append(m.Items, Item{Stream: "people", Key: relation + "/" + id,
			Fields: map[string]any{"account_id": id, "relation": relation, "url": url}})
	}
	m.Content = []byte("window.YTD." + relation + ".part0 = " + encodeJSON(all))
	return m
}

// markupText escapes what the service escapes in posts.
var markupText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func (w *twitterAccount) conversations() Member {
	m := Member{Name: "data/direct-messages.js"}
	var all []any
	for _, id := range w.order {
		events := []any{map[string]any{"joinConversation": map[string]any{"initiatingUserId": "10"}}}
		for _, d := range w.messages[id] {
			events = append(events, map[string]any{"messageCreate": map[string]any{"id": d.id,
				"text": markupText.Replace(d.text), "createdAt": d.at, "senderId": d.sender, "recipientId": d.recipient,
				"mediaUrls": []any{}}})
			at, _ := time.Parse("2006-01-02T15:04:05.000Z", d.at)
			m.Items = append(m.Items, Item{Stream: "direct_messages", Key: d.id, Fields: map[string]any{
				"text": d.text, "created_at": at.UTC().Format(time.RFC3339Nano), "sender_id": d.sender, "recipient_id": d.recipient,
				"conversation_id": id,
			}})
		}
		all = append(all, map[string]any{"dmConversation": map[string]any{"conversationId": id, "messages": events}})
	}
	m.Content = []byte("window.YTD.direct_messages.part0 = " + encodeJSON(all))
	return m
}

func (w *twitterAccount) hostileMembers(*Tree) []Member {
	return []Member{
		{Name: "data/tweets.js", Content: []byte(`window.YTD.tweets.part0 = [ {"tweet":{"id_str":"1",` +
			`"created_at":"never"}}, 7, {"tweet":{"id_str":"77","full_text":"kept","created_at":"Sun Mar 01 08:00:00 +0000 ` +
			`2026"}} ]`),
			Items: []Item{{Stream: "tweets", Key: "77", Fields: map[string]any{"text": "kept"}}}},
		{Name: "data/like.js", Content: []byte(`window.YTD.like.part0 = [{"like":{}}, 7, {"like":{"tweetId":79,` +
			`"fullText":"kept"}}]`),
			Items: []Item{{Stream: "likes", Key: "79", Fields: map[string]any{"text": "kept"}}}},
		{Name: "data/direct-messages.js",
			Content: []byte(`window.YTD.direct_messages.part0 = [{"dmConversation":{"messages":[{"messageCreate":{"text":"no` +
				` id"}}, [], {"messageCreate":{"id":"78","createdAt":"2026-03-01T08:00:00Z","text":"kept"}}]}}]`),
			Items: []Item{{Stream: "direct_messages", Key: "78", Fields: map[string]any{"text": "kept"}}}},
	}
}
