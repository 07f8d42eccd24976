package twitterarchive_test

import (
	"fmt"
	"strings"
	"testing"

	"pdpp/connectorkit/localarchive/archivetest"
	twitterarchive "pdpp/connectors/twitter_archive"
)

func imported(t testing.TB, files ...archivetest.File) *archivetest.Kept {
	t.Helper()
	dir := t.TempDir()
	archivetest.Unpacked(t, dir, files...)
	return archivetest.New(t, twitterarchive.Connector(), map[string]string{"TWITTER_ARCHIVE_DIR": dir})
}

// TestArchive holds posts and messages of several years' forms against what is stored.
func TestArchive(t *testing.T) {
	k := imported(t,
		archivetest.File{Name: "a/data/tweets.js", Content: `window.YTD.tweets.part0 = [{"tweet":{"id":12345678901234567890,"id_str":"12","full_text":"a &lt;b&gt; &amp;amp;","created_at":"Wed Mar 04 10:11:12 +0000 2020","favorite_count":"3","retweet_count":1,"in_reply_to_status_id_str":"11","in_reply_to_screen_name":"x","lang":"en","entities":{"urls":[{}],"media":[{}]},"extended_entities":{"media":[{},{}]}}}]`},
		archivetest.File{Name: "old/tweet.js", Content: "\xef\xbb\xbfwindow.YTD.tweet.part0 = [ {\"id_str\" : \"13\", \"text\":\"old\", \"created_at\":\"2012-03-04 10:11:12 +0000\"}, {\"id_str\":\"14\"} ]"},
		archivetest.File{Name: "a/data/direct-messages-group.js", Content: `window.YTD.direct_messages_group.part0 = [{"dmConversation":{"conversationId":"9","messages":[{"participantsLeave":{}},{"messageCreate":{"id":"5","senderId":"1","text":"hi &amp; bye","createdAt":"2020-03-04T10:11:12.123Z"}}]}}]`},
	).Run()
	tw := k.Fields("tweets", "12")
	got := fmt.Sprint(tw["text"], "|", tw["created_at"], "|", tw["favorite_count"], tw["retweet_count"], tw["in_reply_to_status_id"], tw["media_count"], tw["url_count"], "|", k.Fields("tweets", "13")["text"], k.Fields("tweets", "13")["created_at"])
	if want := "a <b> &amp;|2020-03-04T10:11:12Z|3 1112 1|old2012-03-04T10:11:12Z"; got != want {
		t.Errorf("posts:\n%s\nwant\n%s", got, want)
	}
	d := k.Fields("direct_messages", "5")
	if got := fmt.Sprint(d["text"], "|", d["conversation_id"], "|", d["sender_id"], "|", d["created_at"]); got != "hi & bye|9|1|2020-03-04T10:11:12.123Z" {
		t.Errorf("message: %s", got)
	}
	if got := fmt.Sprint(k.Reasons(), k.Account("direct_messages").LinesByKind); got != "map[row_unreadable:1] map[participantsLeave:1]" {
		t.Errorf("left out: %s", got)
	}
}

// TestCutShort shows that what stands before the end of a broken file is kept.
func TestCutShort(t *testing.T) {
	var b strings.Builder
	for i := range 50 {
		fmt.Fprintf(&b, `{"messageCreate":{"id":"%d","text":"x","createdAt":"2020-03-04T10:11:12.123Z"}},`, i)
	}
	k := imported(t, archivetest.File{Name: "data/direct-messages.js", Content: `x = [{"dmConversation":{"conversationId":"9","messages":[` + b.String()}).Run()
	if got := fmt.Sprint(len(k.Records["direct_messages"]), k.Reasons()); got != "50 map[archive_damaged:1]" {
		t.Errorf("messages: %s", got)
	}
	k = imported(t, archivetest.File{Name: "data/tweets.js", Content: `x = [{"tweet":{"id_str":"1","created_at":"Wed Mar 04 10:11:12 +0000 2020"}}, {"tweet":{"id_str":"2","crea`}).Run()
	if got := fmt.Sprint(len(k.Records["tweets"]), k.Reasons()); got != "1 map[archive_damaged:1]" {
		t.Errorf("posts: %s", got)
	}
}

// FuzzArchive feeds anything to both parsers: the run ends well.
func FuzzArchive(f *testing.F) {
	f.Add(`window.YTD.tweets.part0 = [{"tweet":{"id_str":"1","created_at":"Wed Mar 04 10:11:12 +0000 2020","favorite_count":"3"}}]`, false)
	f.Add(`window.YTD.direct_messages.part0 = [{"dmConversation":{"conversationId":"9","messages":[{"messageCreate":{"id":"5","createdAt":"2020-03-04T10:11:12.123Z"}},{"x":1}]}}]`, true)
	f.Fuzz(func(t *testing.T, content string, messages bool) {
		name := "data/tweets.js"
		if messages {
			name = "data/direct-messages.js"
		}
		imported(t, archivetest.File{Name: name, Content: content}).Run()
	})
}
