package redditexport_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/inprocess"
	"github.com/pdpp-go/pdpp/connectorkit/localarchive/archivetest"
	redditexport "github.com/pdpp-go/pdpp/connectors/reddit_export"
)

func imported(t testing.TB, files ...archivetest.PackedFile) *inprocess.MemoryRunner {
	t.Helper()
	dir := t.TempDir()
	archivetest.WriteUnpacked(t, dir, files...)
	return inprocess.NewMemoryRunner(t, redditexport.Connector(), map[string]string{"REDDIT_EXPORT_DIR": dir})
}

// TestTables compares a row of every table with its stored record, with columns in another order, of an older format,
// and unknown ones.
func TestTables(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, content, stream, key, want string }{
		{"posts.csv", "id,permalink,date,ip,subreddit,gildings,title,url,body\n1abc,https://www.reddit.com/r/boats/" +
			"comments/1abc/x/,2024-05-02 18:11:04 UTC,192.0.2.1,boats,2,\"A, b\",https://a.example,\"Two\r\nlines\"\n",
			"posts", "1abc", "map[body:Two\nlines created_at:2024-05-02T18:11:04Z id:1abc other_columns:map[gildings:2 " +
				"ip:192.0.2.1] permalink:https://www.reddit.com/r/boats/comments/1abc/x/ subreddit:boats title:A, b " +
				"url:https://a.example]"},
		{"comments.csv", "body,parent,link,ID,permalink,date,gildings_silver,hue\nText,p1,l1,kx1,/r/boats/comments/1abc/" +
			"_/kx1,2024-05-02T18:11:04Z,3,red\n",
			"comments", "kx1", "map[body:Text created_at:2024-05-02T18:11:04Z id:kx1 other_columns:map[gildings_silver:3 " +
				"hue:red] parent_id:p1 permalink:/r/boats/comments/1abc/_/kx1 post_link:l1]"},
		{"saved_comments.csv", "id,permalink\nkx1,https://www.reddit.com/r/boats/comments/1abc/_/kx1/\n", "saved", "t1_kx1",
			"map[id:t1_kx1 is_post:false kind:t1 permalink:https://www.reddit.com/r/boats/comments/1abc/_/kx1/ " +
				"subreddit:boats]"},
		{"deep/post_votes_12.csv", "id,permalink,direction\nt3_1abc,,Down\n", "votes", "t3_1abc",
			"map[direction:down id:t3_1abc is_post:true kind:t3]"},
		{"hidden_posts.csv", "id,permalink\n1abc,x\n", "hidden", "t3_1abc",
			"map[id:t3_1abc is_post:true kind:t3 permalink:x]"},
		{"moderated_subreddits.csv", "subreddit\nboats\n", "subreddits", "moderated/boats",
			"map[id:moderated/boats relation:moderated subreddit:boats]"},
		{"messages_archive.csv", "id,permalink,thread_id,date,ip,from,to,subject,body\nm1,,m0,soon,,mara,jorn,Hi,Text\n",
			"messages", "m1",
			"map[body:Text from:mara id:m1 other_columns:map[date:soon] subject:Hi thread_id:m0 to:jorn]"},
		{"chat_history.csv", "message_id,created_at,updated_at,username,message,thread_parent_message_id,channel_url," +
			"subreddit,channel_name,conversation_type\n$1,2024-05-02 18:11:04 CEST,2024-05-02 18:11:04.123456 UTC,jorn," +
			"Hello,$0,u,,Harbour,direct\n",
			"chat_messages", "$1", "map[channel_name:Harbour channel_url:u conversation_type:direct id:$1 message:Hello " +
				"other_columns:map[created_at:2024-05-02 18:11:04 CEST] parent_message_id:$0 updated_at:2024-05-02T18:11:04Z " +
				"username:jorn]"},
	} {
		k := imported(t, archivetest.PackedFile{Name: c.file, Content: c.content}).Run()
		if got := fmt.Sprint(k.Fields(c.stream, c.key)); got != c.want || len(k.Gaps()) != 0 {
			t.Errorf("%s:\n%s\nwant\n%s\n%v", c.file, got, c.want, k.GapReasons())
		}
	}
}

// TestOtherTables keeps rows without a key, including equal ones, and reports tables of other services.
func TestOtherTables(t *testing.T) {
	t.Parallel()
	k := imported(t, archivetest.PackedFile{Name: "ip_logs.csv",
		Content: "date,ip\n2024-01-01,192.0.2.1\n2024-01-01,192.0.2.1\n2024-01-02,192.0.2.1\n"}).Run()
	if n := len(k.Records["account_facts"]); n != 3 {
		t.Errorf("%d rows of 3", n)
	}
	for name, content := range map[string]string{
		"comments.csv": "Comment ID,Channel ID,Comment Text\nUg1,UC,hi\n",
		"messages.csv": "CONVERSATION ID,FROM,TO,CONTENT\n1,a,b,c\n", "posts.csv": "",
	} {
		if got := fmt.Sprint(imported(t,
			archivetest.PackedFile{Name: name, Content: content}).Run().GapReasons()); got != "map[archive_of_another_kind:1]" {
			t.Errorf("%s of somebody else's: %s", name, got)
		}
	}
}

// TestLongPost keeps a post as long as Reddit lets one be, in signs of four bytes.
func TestLongPost(t *testing.T) {
	t.Parallel()
	body := strings.Repeat(strings.Repeat("🌊", 99)+"\n", 400)
	k := imported(t, archivetest.PackedFile{Name: "posts.csv", Content: "id,permalink,title,body\n1a,p,T,\"" + body +
		"\"\n1b,p,U,short\n"}).Run()
	if got := k.Fields("posts", "1a")["body"]; got != body || len(k.Records["posts"]) != 2 || len(k.Gaps()) != 0 {
		t.Errorf("%d posts, %v", len(k.Records["posts"]), k.GapReasons())
	}
}

// TestEveryRowIsStoredOrDeclared damages a line: all other rows are stored, and it is stored or declared.
func TestEveryRowIsStoredOrDeclared(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 1))
		lines := []string{"id,permalink,direction\n"}
		for i := range 30 {
			lines = append(lines, fmt.Sprintf("\"a%d\",https://www.reddit.com/r/boats/comments/a%d/x/,up\n", i, i))
		}
		bad := 1 + rng.IntN(len(lines)-1)
		line := []byte(strings.TrimSuffix(lines[bad], "\n"))
		for range 1 + rng.IntN(3) {
			at := rng.IntN(len(line))
			line[at] = "\",x:"[rng.IntN(4)]
		}
		lines[bad] = string(line) + "\n"
		k := imported(t, archivetest.PackedFile{Name: "post_votes.csv", Content: strings.Join(lines, "")}).Run()
		for i := 1; i < len(lines); i++ {
			if key := fmt.Sprintf("t3_a%d", i-1); i != bad && k.Records["votes"][key] == "" {
				t.Fatalf("seed %d: %s is lost because of %q", seed, key, lines[bad])
			}
		}
		if len(k.Records["votes"])+len(k.Gaps()) < 30 {
			t.Errorf("seed %d: %d stored, %d declared: %q", seed, len(k.Records["votes"]), len(k.Gaps()), lines[bad])
		}
	}
}

// FuzzExport feeds anything to each of the tables: the run ends well.
func FuzzExport(f *testing.F) {
	names := []string{"posts.csv", "comments_1.csv", "saved_posts.csv", "comment_votes.csv", "subscribed_subreddits.csv",
		"messages.csv", "chat_history.csv", "drafts.csv"}
	f.Add("id,permalink,date,ip,subreddit,gildings,title,url,body\n1,p,2024-05-02 18:11:04 UTC,,s,0,\"t\"\"\",u,\"b\n"+
		"c\"\n", uint8(0))
	f.Add("id,permalink,direction\na,https://www.reddit.com/r/b/,up\n", uint8(3))
	f.Add("subreddit\na\n\x00\n", uint8(4))
	f.Add("message_id,created_at,message\n1,2024-05-02T18:11:04Z,x\n", uint8(6))
	f.Add("a,a,\xff\n1,2,3,4\n1,2,3,4\n", uint8(7))
	f.Fuzz(func(t *testing.T, content string, which uint8) {
		imported(t, archivetest.PackedFile{Name: names[int(which)%len(names)], Content: content}).Run()
	})
}
