package twitterarchive_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/inprocess"
	"github.com/pdpp-go/pdpp/connectorkit/localarchive/archivetest"
	twitterarchive "github.com/pdpp-go/pdpp/connectors/twitter_archive"
)

func imported(t testing.TB, files ...archivetest.PackedFile) *inprocess.MemoryRunner {
	t.Helper()
	dir := t.TempDir()
	archivetest.WriteUnpacked(t, dir, files...)
	return inprocess.NewMemoryRunner(t, twitterarchive.Connector(), map[string]string{"TWITTER_ARCHIVE_DIR": dir})
}

// TestArchive holds posts and messages of several years' forms against what is stored.
func TestArchive(t *testing.T) {
	k := imported(t,
		archivetest.PackedFile{
			Name: "a/data/tweets.js",
			Content: `window.YTD.tweets.part0 = [{"tweet":{"id":12345678901234567890,"id_str":"12","full_text":"a &lt;b&gt; ` +
				`&amp;amp;","created_at":"Wed Mar 04 10:11:12 +0000 2020","favorite_count":"3","retweet_count":1,` +
				`"in_reply_to_status_id_str":"11","in_reply_to_screen_name":"x","lang":"en","entities":{"urls":[{}],"media":[{}` +
				`]},"extended_entities":{"media":[{},{}]}}}]`,
		},
		archivetest.PackedFile{Name: "old/tweet.js",
			Content: "\xef\xbb\xbfwindow.YTD.tweet.part0 = [ {\"id_str\" : \"13\", \"text\":\"old\", " +
				"\"created_at\":\"2012-03-04 10:11:12 +0000\"}, {\"id_str\":\"14\"} ]"},
		archivetest.PackedFile{
			Name: "a/data/direct-messages-group.js",
			Content: `window.YTD.direct_messages_group.part0 = [{"dmConversation":{"conversationId":"9",` +
				`"messages":[{"participantsLeave":{}},{"messageCreate":{"id":"5","senderId":"1","text":"hi &amp; bye",` +
				`"createdAt":"2020-03-04T10:11:12.123Z"}}]}}]`,
		},
	).Run()
	tw := k.Fields("tweets", "12")
	got := fmt.Sprint(tw["text"], "|", tw["created_at"], "|", tw["favorite_count"], tw["retweet_count"],
		tw["in_reply_to_status_id"], tw["media_count"], tw["url_count"], "|", k.Fields("tweets", "13")["text"],
		k.Fields("tweets", "13")["created_at"])
	if want := "a <b> &amp;|2020-03-04T10:11:12Z|3 1112 1|old2012-03-04T10:11:12Z"; got != want {
		t.Errorf("posts:\n%s\nwant\n%s", got, want)
	}
	d := k.Fields("direct_messages", "5")
	if got := fmt.Sprint(d["text"], "|", d["conversation_id"], "|", d["sender_id"], "|",
		d["created_at"]); got != "hi & bye|9|1|2020-03-04T10:11:12.123Z" {
		t.Errorf("message: %s", got)
	}
	if got := fmt.Sprint(k.GapReasons(),
		archivetest.StoredCoverage(t, k,
			"direct_messages").LinesByKind); got != "map[row_unreadable:1] map[participantsLeave:1]" {
		t.Errorf("left out: %s", got)
	}
}

// TestLongPosts joins the whole text of a post over 280 characters to its post, whichever file comes
// first, in an archive and in a folder. One without a post is a record of its own.
func TestLongPosts(t *testing.T) {
	long := "An account of the voyage &amp; of the harbour that begins here " + strings.Repeat("and goes on ", 30) +
		"until the end, see https://t.co/a"
	cut := long[:270] + "… https://t.co/zz"
	tweets := `window.YTD.tweets.part0 = [{"tweet":{"id_str":"7","full_text":"` + cut +
		`","created_at":"Wed Mar 04 10:11:12 +0000 2024"}},{"tweet":{"id_str":"8","full_text":"another of the same ` +
		`second","created_at":"Wed Mar 04 10:11:12 +0000 2024"}}]`
	notes := `window.YTD.note_tweet.part0 = [{"noteTweet":{"noteTweetId":"71","createdAt":"2024-03-04T10:11:12.000Z",` +
		`"core":{"text":"` + long + `","urls":[{"shortUrl":"https://t.co/a","expandedUrl":"https://harbour.example/log"}],"mentions":[{"screenName":"mara"}]}}},
		{"noteTweet":{"noteTweetId":"72","createdAt":"2025-01-01T00:00:00.000Z",
			"core":{"text":"a long post whose post is gone"}}}]`
	for _, order := range [][2]string{{"data/note-tweet.js", "data/tweets.js"}, {"data/tweets.js", "data/note-tweet.js"}} {
		content := map[string]string{"data/note-tweet.js": notes, "data/tweets.js": tweets}
		files := []archivetest.PackedFile{{Name: "x/" + order[0], Content: content[order[0]]},
			{Name: "x/" + order[1], Content: content[order[1]]}}
		for form, packed := range map[string][]byte{"zip": archivetest.PackZip(t, files...),
			"tgz":    archivetest.PackTarGzip(t, files...),
			"folder": nil} {
			dir := t.TempDir()
			if packed == nil {
				archivetest.WriteUnpacked(t, dir, files...)
			} else {
				archivetest.WriteFile(t, dir+"/twitter."+form, packed)
			}
			k := inprocess.NewMemoryRunner(t, twitterarchive.Connector(), map[string]string{"TWITTER_ARCHIVE_DIR": dir}).Run()
			seven := k.Fields("tweets", "7")
			want := strings.NewReplacer("&amp;", "&", "https://t.co/a", "https://harbour.example/log").Replace(long)
			if seven["text"] != want || seven["is_long"] != true ||
				fmt.Sprint(seven["urls"]) != "[map[expanded_url:https://harbour.example/log url:https://t.co/a]]" {
				t.Errorf("%s %v: the post is %v", form, order, seven)
			}
			if got := fmt.Sprint(k.Fields("tweets", "8")["text"], "|", k.Fields("tweets", "note/72")["text"], "|",
				len(k.Records["tweets"]), len(k.Gaps())); got != "another of the same second|a long post whose post is gone|3 0" {
				t.Errorf("%s %v: %s", form, order, got)
			}
		}
	}
}

// TestWholePosts shows that links, pictures with their descriptions, mentions, places and the person that a post
// answers are kept, of posts and of messages, and what a post is.
func TestWholePosts(t *testing.T) {
	k := imported(
		t,
		archivetest.PackedFile{
			Name: "data/tweets.js",
			Content: `window.YTD.tweets.part0 = [{"tweet":{"id_str":"12","full_text":"see https://t.co/a",
			"created_at":"Wed Mar 04 10:11:12 +0000 2020",
			"in_reply_to_status_id_str":"11","in_reply_to_user_id_str":"5","in_reply_to_screen_name":"x",
			"source":"<a href=\"https://x.example\">X for Boats</a>",
			"entities":{"urls":[{"url":"https://t.co/a","expanded_url":"https://harbour.example/tide","display_url":"harbour.example"}],"user_mentions":[{"id_str":"5","screen_name":"x","name":"Xenia"}],"hashtags":[{"text":"tide"}]},
			"extended_entities":{"media":[{"type":"photo","media_url_https":"https://pbs.example/a.jpg","ext_alt_text":"A lighthouse at dusk"},{"type":"video","media_url_https":"https://pbs.example/b.jpg","video_info":{"variants":[{"bitrate":"1","url":"https://v.example/1.mp4"},{"bitrate":"9","url":"https://v.example/9.mp4"}]}}]},
			"coordinates":{"type":"Point","coordinates":[18.1,59.3]},"place":{"full_name":"Stockholm, Sweden"}}}]`,
		},
		archivetest.PackedFile{
			Name: "data/community-tweet.js",
			Content: `window.YTD.community_tweet.part0 = [{"tweet":{"id_str":"20","full_text":"to the sailors",` +
				`"created_at":"Wed Mar 04 10:11:12 +0000 2020","community_id_str":"99"}}]`,
		},
		archivetest.PackedFile{
			Name: "data/deleted-tweets.js",
			Content: `window.YTD.deleted_tweets.part0 = [{"tweet":{"id_str":"21","full_text":"never said","created_at":"Wed ` +
				`Mar 04 10:11:12 +0000 2020","deleted_at":"2020-03-05T10:00:00.000Z"}}]`,
		},
		archivetest.PackedFile{
			Name: "data/direct-messages.js",
			Content: `window.YTD.direct_messages.part0 = [{"dmConversation":{"conversationId":"9",` +
				`"messages":[{"messageCreate":{"id":"5","senderId":"1","recipientId":"2","text":"look https://t.co/b",` +
				`"createdAt":"2020-03-04T10:11:12.123Z","mediaUrls":["https://ton.example/m.jpg"],"urls":[{"url":"https://t.co/` +
				`b","expanded":"https://harbour.example/boat","display":"x"}],"reactions":[{"senderId":"2",` +
				`"reactionKey":"like","createdAt":"2020-03-04T10:12:00.000Z"}]}}]}}]`,
		},
		archivetest.PackedFile{
			Name: "data/grok-chat-item.js",
			Content: `window.YTD.grok_chat_item.part0 = [{"grokChatItem":{"chatId":"77",` +
				`"createdAt":"2025-10-23T13:11:59.692Z","sender":{"name":"User","originalName":"USER"},"message":"how high is ` +
				`the tide"}}]`,
		},
		archivetest.PackedFile{Name: "data/block.js",
			Content: `window.YTD.block.part0 = [{"blocking":{"accountId":"31","userLink":"https://x.com/i/31"}}]`},
		archivetest.PackedFile{Name: "data/mute.js", Content: `window.YTD.mute.part0 = [{"muting":{"accountId":"32"}}]`},
		archivetest.PackedFile{Name: "data/account.js", Content: `window.YTD.account.part0 = []`},
		archivetest.PackedFile{Name: "data/lists-created.js", Content: `window.YTD.lists_created.part0 = []`},
		archivetest.PackedFile{Name: "data/tweets_media/12-a.jpg", Content: "x"},
		archivetest.PackedFile{Name: "data/brand-new.js", Content: "x"},
	).Run()
	for _, c := range []struct {
		stream, key string
		fields      []string
		want        string
	}{
		{"tweets", "12", []string{"text", "in_reply_to_user_id", "client", "urls", "mentions", "hashtags", "media",
			"latitude", "longitude", "place", "kind"},
			"see https://harbour.example/tide|5|X for Boats|[map[expanded_url:https://harbour.example/tide " +
				"url:https://t.co/a]]|[map[id:5 name:Xenia screen_name:x]]|[tide]|[map[alt_text:A lighthouse at dusk type:photo " +
				"url:https://pbs.example/a.jpg] map[type:video url:https://pbs.example/b.jpg " +
				"video_url:https://v.example/9.mp4]]|59.3|18.1|Stockholm, Sweden|post"},
		{"tweets", "20", []string{"text", "kind", "community_id"}, "to the sailors|community|99"},
		{"tweets", "21", []string{"text", "kind", "deleted_at"}, "never said|deleted|2020-03-05T10:00:00Z"},
		{"direct_messages", "5", []string{"text", "media_urls", "urls", "reactions"},
			"look https://harbour.example/boat|[https://ton.example/m.jpg]|[map[expanded_url:https://harbour.example/boat " +
				"url:https://t.co/b]]|[map[created_at:2020-03-04T10:12:00Z reaction:like sender_id:2]]"},
		{"people", "blocked/31", []string{"account_id", "relation"}, "31|blocked"},
		{"people", "muted/32", []string{"account_id", "relation"}, "32|muted"},
	} {
		var got []string
		r := k.Fields(c.stream, c.key)
		for _, f := range c.fields {
			got = append(got, fmt.Sprint(r[f]))
		}
		if text := strings.Join(got, "|"); text != c.want {
			t.Errorf("%s %s:\n%s\nwant\n%s", c.stream, c.key, text, c.want)
		}
	}
	for key := range k.Records["grok_messages"] {
		if r := k.Fields("grok_messages", key); fmt.Sprint(r["chat_id"], r["sender"], r["text"],
			r["created_at"]) != "77USERhow high is the tide2025-10-23T13:11:59.692Z" {
			t.Errorf("grok: %v", r)
		}
	}
	var left []string
	for key := range k.Records["coverage_diagnostics"] {
		if strings.HasPrefix(key, "left:") || strings.HasPrefix(key, "unknown:") {
			left = append(left, key)
		}
	}
	slices.Sort(left)
	if got := strings.Join(left,
		", "); got != "left:Account and profile, left:Lists, left:Pictures and videos, unknown:data/brand-new.js" ||
		len(k.Records["grok_messages"]) != 1 {
		t.Errorf("left out: %s", got)
	}
}

// TestGrok reads messages with and without what is optional. Equal messages are one record; a message that differs in
// chat, time, sender or text is another. One without a chat or a time is declared.
func TestGrok(t *testing.T) {
	const sent = `"createdAt":"2025-10-23T13:11:59.692Z"`
	user := `"sender":{"name":"User","originalName":"USER"},"message":"tide"`
	items := []string{
		`{"grokChatItem":{"chatId":"77",` + sent + `,` + user + `}}`,
		`{"grokChatItem":{"chatId":77,` + sent + `,` + user + `,"attachments":[{"fileName":"a.png"},{"fileName":"b.png"}]}}`,
		`{"grokChatItem":{"chatId":"78",` + sent + `,"sender":{"name":"Grok"},"message":"tide"}}`,
		`{"grokChatItem":{"chatId":"78",` + sent + `,"sender":{"name":"Grok"},"message":"high tide"}}`,
		`{"grokChatItem":{"chatId":"78","createdAt":"2025-10-23T13:12:00Z","sender":{"name":"Grok"},"message":"tide"}}`,
		`{"grokChatItem":{"chatId":"78",` + sent + `,"sender":{"name":"Other"},"message":"tide"}}`,
		`{"grokChatItem":{` + sent + `,"message":"without a chat"}}`,
		`{"grokChatItem":{"chatId":"78","createdAt":"later","message":"without a time"}}`, `7`,
	}
	k := imported(t, archivetest.PackedFile{Name: "data/grok-chat-item.js",
		Content: `window.YTD.grok_chat_item.part0 = [` + strings.Join(items, ",") + `]`}).Run()
	var got []string
	for key := range k.Records["grok_messages"] {
		r := k.Fields("grok_messages", key)
		got = append(got, fmt.Sprintln(len(key), r["id"] == key, r["chat_id"], r["sender"], r["created_at"], r["text"],
			r["attachments"]))
	}
	slices.Sort(got)
	want := []string{
		"32 true 77 USER 2025-10-23T13:11:59.692Z tide [a.png b.png]\n",
		"32 true 78 Grok 2025-10-23T13:11:59.692Z high tide <nil>\n",
		"32 true 78 Grok 2025-10-23T13:11:59.692Z tide <nil>\n", "32 true 78 Grok 2025-10-23T13:12:00Z tide <nil>\n",
		"32 true 78 Other 2025-10-23T13:11:59.692Z tide <nil>\n",
	}

	if !slices.Equal(got, want) || fmt.Sprint(k.GapReasons()) != "map[row_unreadable:3]" {
		t.Errorf("%q, %v", got, k.GapReasons())
	}
}

// TestCutShort shows that the part before the end of a broken file is kept.
func TestCutShort(t *testing.T) {
	var b strings.Builder
	for i := range 50 {
		fmt.Fprintf(&b, `{"messageCreate":{"id":"%d","text":"x","createdAt":"2020-03-04T10:11:12.123Z"}},`, i)
	}
	k := imported(t, archivetest.PackedFile{Name: "data/direct-messages.js",
		Content: `x = [{"dmConversation":{"conversationId":"9","messages":[` + b.String()}).Run()
	if got := fmt.Sprint(len(k.Records["direct_messages"]), k.GapReasons()); got != "50 map[archive_damaged:1]" {
		t.Errorf("messages: %s", got)
	}
	k = imported(t, archivetest.PackedFile{
		Name:    "data/tweets.js",
		Content: `x = [{"tweet":{"id_str":"1","created_at":"Wed Mar 04 10:11:12 +0000 2020"}}, {"tweet":{"id_str":"2","crea`,
	}).Run()
	if got := fmt.Sprint(len(k.Records["tweets"]), k.GapReasons()); got != "1 map[archive_damaged:1]" {
		t.Errorf("posts: %s", got)
	}
}

// FuzzArchive feeds anything to both parsers: the run ends well.
func FuzzArchive(f *testing.F) {
	f.Add(
		`window.YTD.tweets.part0 = [{"tweet":{"id_str":"1","created_at":"Wed Mar 04 10:11:12 +0000 2020",`+
			`"favorite_count":"3"}}]`,
		false,
	)
	f.Add(
		`window.YTD.direct_messages.part0 = [{"dmConversation":{"conversationId":"9",`+
			`"messages":[{"messageCreate":{"id":"5","createdAt":"2020-03-04T10:11:12.123Z"}},{"x":1}]}}]`,
		true,
	)
	f.Fuzz(func(t *testing.T, content string, messages bool) {
		name := "data/tweets.js"
		if messages {
			name = "data/direct-messages.js"
		}
		imported(t, archivetest.PackedFile{Name: name, Content: content}).Run()
	})
}
